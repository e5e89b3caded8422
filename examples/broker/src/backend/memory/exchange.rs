//! Exchanges: from a routing key to the queues that are bound with it.

use alloc::collections::BTreeMap;

use stomp_proto::Text;

use super::pattern;
use super::queue::QueueId;

/// The exchanges that are always there. None is ever declared.
#[derive(Debug)]
pub(super) struct Exchanges {
    all: [(&'static str, Exchange); 5],
    bindings: usize,
}

#[derive(Debug)]
struct Exchange {
    kind: Kind,
    bindings: BTreeMap<Text, Vec<QueueId>>,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Direct,
    Topic,
    Fanout,
}

impl Exchanges {
    pub(super) fn new() -> Self {
        let exchange = |kind| Exchange { kind, bindings: BTreeMap::new() };
        let all = [
            ("amq.direct", exchange(Kind::Direct)),
            ("amq.topic", exchange(Kind::Topic)),
            ("amq.fanout", exchange(Kind::Fanout)),
            // STOMP binds without arguments, and then every message fits.
            ("amq.headers", exchange(Kind::Fanout)),
            ("amq.match", exchange(Kind::Fanout)),
        ];
        Self { all, bindings: 0 }
    }

    pub(super) fn exists(&self, name: &str) -> bool {
        self.all.iter().any(|(known, _)| *known == name)
    }

    /// How many bindings there are.
    pub(super) fn bindings(&self) -> usize {
        self.bindings
    }

    /// The queues that a message gets to, each once.
    pub(super) fn route(&self, name: &str, key: &str) -> Vec<QueueId> {
        let exchange = self.all.iter().find(|(known, _)| *known == name);
        exchange.map(|(_, exchange)| exchange.route(key)).unwrap_or_default()
    }

    pub(super) fn bind(&mut self, name: &str, key: &Text, queue: QueueId) {
        let exchange = self.all.iter_mut().find(|(known, _)| *known == name);
        let Some((_, exchange)) = exchange else { return };
        let queues = exchange.bindings.entry(key.clone()).or_default();
        if !queues.contains(&queue) {
            queues.push(queue);
            self.bindings += 1;
        }
    }

    /// Forgets a queue.
    pub(super) fn unbind(&mut self, queue: QueueId) {
        for (_, exchange) in &mut self.all {
            exchange.bindings.retain(|_, queues| {
                let before = queues.len();
                queues.retain(|bound| *bound != queue);
                self.bindings -= before - queues.len();
                !queues.is_empty()
            });
        }
    }
}

impl Exchange {
    fn route(&self, key: &str) -> Vec<QueueId> {
        let fits: fn(&str, &str) -> bool = match self.kind {
            Kind::Direct => return self.bindings.get(key).cloned().unwrap_or_default(),
            Kind::Topic => pattern::matches,
            Kind::Fanout => |_, _| true,
        };
        let bound = self.bindings.iter().filter(|(bound, _)| fits(bound, key));
        let mut queues: Vec<_> = bound.flat_map(|(_, queues)| queues).copied().collect();
        queues.sort_unstable();
        queues.dedup();
        queues
    }
}
