//! Exchanges: from a routing key to the queues that are bound with it.

use alloc::collections::BTreeMap;

use stomp_proto::Text;

use super::pattern;
use super::queue::QueueId;

/// The exchanges that are always there. None is ever declared.
#[derive(Debug)]
pub(super) struct Exchanges {
    all: [(&'static str, Exchange); 5],
    /// What each queue is bound to: it may be one of very many that end at a time.
    bound: BTreeMap<QueueId, Vec<(usize, Text)>>,
    bindings: usize,
}

#[derive(Debug)]
struct Exchange {
    kind: Kind,
    bindings: Bindings,
    /// Of a topic exchange, those whose key stands for others as well.
    patterns: Bindings,
}

type Bindings = BTreeMap<Text, Vec<QueueId>>;

#[derive(Clone, Copy, Debug)]
enum Kind {
    Direct,
    Topic,
    Fanout,
}

impl Exchanges {
    pub(super) fn new() -> Self {
        let exchange =
            |kind| Exchange { kind, bindings: BTreeMap::new(), patterns: BTreeMap::new() };
        let all = [
            ("amq.direct", exchange(Kind::Direct)),
            ("amq.topic", exchange(Kind::Topic)),
            ("amq.fanout", exchange(Kind::Fanout)),
            // STOMP binds without arguments, and then every message fits.
            ("amq.headers", exchange(Kind::Fanout)),
            ("amq.match", exchange(Kind::Fanout)),
        ];
        Self { all, bound: BTreeMap::new(), bindings: 0 }
    }

    pub(super) fn exists(&self, name: &str) -> bool {
        self.all.iter().any(|(known, _)| *known == name)
    }

    /// How many bindings there are.
    pub(super) fn bindings(&self) -> usize {
        self.bindings
    }

    pub(super) fn is_bound(&self, name: &str, key: &str, queue: QueueId) -> bool {
        let exchange = self.all.iter().find(|(known, _)| *known == name);
        exchange.is_some_and(|(_, exchange)| {
            let bound = [&exchange.bindings, &exchange.patterns].map(|it| it.get(key));
            bound.into_iter().flatten().any(|queues| queues.contains(&queue))
        })
    }

    /// The queues that a message gets to, each once.
    pub(super) fn route(&self, name: &str, key: &str) -> Vec<QueueId> {
        let exchange = self.all.iter().find(|(known, _)| *known == name);
        exchange.map(|(_, exchange)| exchange.route(key)).unwrap_or_default()
    }

    pub(super) fn bind(&mut self, name: &str, key: &Text, queue: QueueId) {
        let exchange = self.all.iter_mut().enumerate().find(|(_, (known, _))| *known == name);
        let Some((index, (_, exchange))) = exchange else { return };
        let queues = exchange.of(key).entry(key.clone()).or_default();
        if !queues.contains(&queue) {
            queues.push(queue);
            self.bound.entry(queue).or_default().push((index, key.clone()));
            self.bindings += 1;
        }
    }

    /// Forgets a queue.
    pub(super) fn unbind(&mut self, queue: QueueId) {
        for (index, key) in self.bound.remove(&queue).unwrap_or_default() {
            let Some((_, exchange)) = self.all.get_mut(index) else { continue };
            let bindings = exchange.of(&key);
            let Some(queues) = bindings.get_mut(&key) else { continue };
            queues.retain(|bound| *bound != queue);
            if queues.is_empty() {
                bindings.remove(&key);
            }
            self.bindings -= 1;
        }
    }
}

impl Exchange {
    /// Those among which a key is.
    fn of(&mut self, key: &str) -> &mut Bindings {
        match self.kind {
            Kind::Topic if pattern::is_one(key) => &mut self.patterns,
            Kind::Direct | Kind::Topic | Kind::Fanout => &mut self.bindings,
        }
    }

    fn route(&self, key: &str) -> Vec<QueueId> {
        let fitting = match self.kind {
            Kind::Direct => return self.bindings.get(key).cloned().unwrap_or_default(),
            Kind::Topic if self.patterns.is_empty() => {
                return self.bindings.get(key).cloned().unwrap_or_default();
            }
            Kind::Topic => {
                let fits = pattern::fitting(key);
                let patterns = self.patterns.iter().filter(|(bound, _)| fits(bound));
                let queues = patterns.flat_map(|(_, queues)| queues);
                queues.chain(self.bindings.get(key).into_iter().flatten()).collect::<Vec<_>>()
            }
            Kind::Fanout => self.bindings.values().flatten().collect(),
        };
        let mut queues: Vec<_> = fitting.into_iter().copied().collect();
        queues.sort_unstable();
        queues.dedup();
        queues
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: QueueId = QueueId(1);
    const SECOND: QueueId = QueueId(2);

    fn bound(bindings: &[(&str, &str, QueueId)]) -> Exchanges {
        let mut exchanges = Exchanges::new();
        for (exchange, key, queue) in bindings {
            exchanges.bind(exchange, &Text::new(key), *queue);
        }
        exchanges
    }

    #[test]
    fn a_queue_gets_a_message_once_however_often_it_is_bound() {
        let exchanges = bound(&[
            ("amq.topic", "a.b", FIRST),
            ("amq.topic", "a.*", FIRST),
            ("amq.topic", "#", FIRST),
            ("amq.topic", "a.b", SECOND),
            ("amq.direct", "a.*", SECOND),
            ("amq.fanout", "a", FIRST),
            ("amq.fanout", "b", FIRST),
        ]);
        for (exchange, key, queues) in [
            ("amq.topic", "a.b", &[FIRST, SECOND][..]),
            ("amq.topic", "a.c", &[FIRST]),
            ("amq.direct", "a.*", &[SECOND]),
            ("amq.direct", "a.b", &[]),
            ("amq.fanout", "c", &[FIRST]),
            ("amq.headers", "a", &[]),
        ] {
            assert_eq!(exchanges.route(exchange, key), queues, "{exchange} {key}");
        }
    }

    #[test]
    fn bindings_are_counted_once_and_end_with_their_queue() {
        let bindings = [
            ("amq.topic", "a.b", FIRST),
            ("amq.topic", "a.b", FIRST),
            ("amq.topic", "a.*", FIRST),
            ("amq.topic", "a.*", SECOND),
            ("amq.fanout", "a.*", FIRST),
            ("nowhere", "a", FIRST),
        ];
        let mut exchanges = bound(&bindings);
        assert_eq!(exchanges.bindings(), 4);
        exchanges.unbind(FIRST);
        assert_eq!(exchanges.bindings(), 1);
        assert_eq!(exchanges.route("amq.topic", "a.b"), [SECOND]);
        assert_eq!(exchanges.route("amq.fanout", "a.*"), []);
        exchanges.unbind(FIRST);
        exchanges.unbind(SECOND);
        assert_eq!(exchanges.bindings(), 0);
        assert!(
            exchanges.all.iter().all(|(_, it)| it.bindings.is_empty() && it.patterns.is_empty())
        );
        assert!(exchanges.bound.is_empty());
    }
}
