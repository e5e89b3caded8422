//! Silence: who was promised beats and gets none convicts, however its driver sleeps; nobody else.

use proptest::prelude::*;
use stomp_proto::{HeartBeat, Version};

use super::cases;
use crate::harness::{Setup, ms};
use crate::network::Chunking;

fn heart_beat() -> impl Strategy<Value = HeartBeat> {
    let interval = || prop_oneof![1 => Just(0), 4 => 200..20_000_u32];
    (interval(), interval()).prop_map(|(can_send, wants)| HeartBeat { can_send, wants })
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn total_silence_is_convicted_by_whom_beats_were_promised_to(
        version in prop::sample::select(Version::ALL.to_vec()),
        seed in any::<u64>(),
        beats in (heart_beat(), heart_beat()),
        latencies in prop::array::uniform2((0..200_u64).prop_map(ms)),
        before in (0..40_000_u64).prop_map(ms),
        sleep in (20..5000_u64).prop_map(ms),
    ) {
        let mut setup = Setup::new(version, Chunking::Random(seed));
        setup.client = setup.client.heart_beat(beats.0);
        setup.accept = setup.accept.heart_beat(beats.1);
        setup.latencies = latencies;
        let mut pair = setup.connected();
        pair.run_for(before);
        prop_assert_eq!((pair.listener.told(), pair.broker.told()), (vec![], vec![]));
        pair.up.fall_silent();
        pair.down.fall_silent();
        let silent = pair.now;
        let promised = [pair.client.heart_beat().incoming, pair.server.heart_beat().incoming];
        let mut has_closed = [false; 2];
        while pair.now < silent + ms(60_000) {
            pair.now += sleep;
            pair.turn();
            let told = [pair.listener.told(), pair.broker.told()];
            // Who has convicted and gone is written to in vain.
            let is_in_vain = [pair.up.is_closed(), pair.down.is_closed()];
            for (end, told) in told.iter().enumerate().filter(|(_, told)| !told.is_empty()) {
                has_closed[end] = true;
                if told[0].starts_with("CLOSED Lost") {
                    prop_assert!(is_in_vain[end]);
                    continue;
                }
                prop_assert!(told[0].starts_with("CLOSED PeerSilent"), "{told:?}");
                let interval = promised[end].expect("a promise");
                let after = pair.now.saturating_sub(silent);
                // The last sign of life came less than an interval before.
                prop_assert!(after > interval + ms(500), "{after:?} is too early for {interval:?}");
                // Who overslept much waits once more, for half a second or until it wakes up.
                let reprieve = if sleep > ms(500) { sleep } else { ms(0) };
                let most = 2 * interval + ms(500) + sleep + reprieve;
                prop_assert!(after <= most, "{after:?} is too late for {interval:?}");
            }
        }
        for end in [0, 1] {
            prop_assert!(has_closed[end] || promised[end].is_none());
        }
        prop_assert!(has_closed == [false; 2] || promised != [None; 2]);
    }
}
