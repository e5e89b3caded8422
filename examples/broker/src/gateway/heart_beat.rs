//! The heart-beats that a client is answered.

use stomp_proto::HeartBeat;

/// What the client asks for, in whole seconds as RabbitMQ has it, but no faster than the broker likes.
pub(super) fn answer(asked: HeartBeat, fastest: HeartBeat) -> HeartBeat {
    HeartBeat {
        can_send: no_faster(asked.wants, fastest.can_send),
        wants: no_faster(asked.can_send, fastest.wants),
    }
}

fn no_faster(asked: u32, fastest: u32) -> u32 {
    const SECOND: u32 = 1000;
    if asked == 0 || fastest == 0 {
        return 0;
    }
    (asked - asked % SECOND).max(fastest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_has_what_it_asks_for_within_bounds() {
        let heart_beat = |can_send, wants| HeartBeat { can_send, wants };
        let second = heart_beat(1000, 1000);
        for (asked, fastest, answered) in [
            (heart_beat(2000, 3000), second, heart_beat(3000, 2000)),
            (heart_beat(500, 1), second, second),
            (heart_beat(1500, 0), second, heart_beat(0, 1000)),
            (heart_beat(0, 2999), second, heart_beat(2000, 0)),
            (HeartBeat::NONE, second, HeartBeat::NONE),
            (heart_beat(5000, 5000), heart_beat(0, 7000), heart_beat(0, 7000)),
            (heart_beat(1, u32::MAX), heart_beat(200, 300), heart_beat(4_294_967_000, 300)),
        ] {
            assert_eq!(answer(asked, fastest), answered, "{asked} {fastest}");
        }
    }
}
