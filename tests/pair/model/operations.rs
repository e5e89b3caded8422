//! What may happen to a pair, in any order.

use proptest::prelude::*;
use stomp_proto::client::AckMode;
use stomp_proto::server::Dialect;
use stomp_proto::{HeartBeat, Version};

use crate::broker::Answers;
use crate::harness::{Setup, ms};
use crate::network::Chunking;

/// Places are taken modulo the number of places that there are. Who is not daring keeps to the rules
/// as far as he knows: one breach of them is the end of a session.
#[derive(Clone, Debug)]
pub(crate) enum Operation {
    // The client.
    Subscribe {
        name: Option<usize>,
        mode: usize,
        receipt: bool,
        daring: bool,
    },
    Unsubscribe {
        place: usize,
        receipt: bool,
    },
    /// Ends a subscription and makes another of the same name.
    Renew(usize),
    Send {
        transaction: Option<usize>,
        receipt: bool,
    },
    Settle {
        nack: bool,
        token: usize,
        transaction: Option<usize>,
        receipt: bool,
        daring: bool,
    },
    Begin,
    End {
        commit: bool,
        place: usize,
        receipt: bool,
    },
    Disconnect,
    // The broker.
    Deliver {
        to: usize,
        message_id: Option<usize>,
        ack_id: Option<usize>,
        daring: bool,
    },
    Confirm(usize),
    Release(usize),
    Fail,
    // Time and the network.
    Turn,
    Drive,
    Wait(u64),
    Lose,
    CutUp,
    CutDown,
}

/// Names of subscriptions that the client chooses; a name always has the same mode.
pub(crate) const NAMES: [&str; 3] = ["a:\\", "b", ""];
pub(crate) const MODES: [AckMode; 3] = [AckMode::Client, AckMode::ClientIndividual, AckMode::Auto];
/// Ids that the broker chooses.
pub(super) const MESSAGE_IDS: [&str; 2] = ["m:1\\", ""];
pub(super) const ACK_IDS: [&str; 2] = ["t:1\\", "m:1\\"];

pub(super) fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let place = 0..100_usize;
    let rarely = || prop::option::weighted(0.3, 0..100_usize);
    let daring = || prop::bool::weighted(0.03);
    let subscribe = (prop::option::of(0..NAMES.len()), 0..MODES.len(), any::<bool>(), daring());
    let settle = (any::<bool>(), place.clone(), rarely(), any::<bool>(), daring());
    let deliver = (place.clone(), prop::option::of(0..100_usize), rarely(), daring());
    let operation = prop_oneof![
        3 => subscribe.prop_map(|(name, mode, receipt, daring)| {
            Operation::Subscribe { name, mode, receipt, daring }
        }),
        12 => settle.prop_map(|(nack, token, transaction, receipt, daring)| {
            Operation::Settle { nack, token, transaction, receipt, daring }
        }),
        1 => (place.clone(), any::<bool>())
            .prop_map(|(place, receipt)| Operation::Unsubscribe { place, receipt }),
        2 => place.clone().prop_map(Operation::Renew),
        3 => (rarely(), any::<bool>())
            .prop_map(|(transaction, receipt)| Operation::Send { transaction, receipt }),
        3 => Just(Operation::Begin),
        3 => (any::<bool>(), place.clone(), any::<bool>())
            .prop_map(|(commit, place, receipt)| Operation::End { commit, place, receipt }),
        14 => deliver.prop_map(|(to, message_id, ack_id, daring)| {
            Operation::Deliver { to, message_id, ack_id, daring }
        }),
        8 => place.clone().prop_map(Operation::Confirm),
        2 => place.prop_map(Operation::Release),
        6 => Just(Operation::Turn),
        12 => Just(Operation::Drive),
        3 => (1..2000_u64).prop_map(Operation::Wait),
    ];
    // What ends the session comes once and late, or there would be little else.
    let end = prop_oneof![
        Just(Operation::Disconnect),
        Just(Operation::Fail),
        Just(Operation::Lose),
        Just(Operation::CutUp),
        Just(Operation::CutDown),
    ];
    let tail = prop::collection::vec(operation.clone(), 0..15);
    (prop::collection::vec(operation, 10..100), end, tail).prop_map(|(middle, end, tail)| {
        let mut all = prologue().to_vec();
        all.extend(middle);
        all.push(end);
        all.extend(tail);
        all
    })
}

/// Two subscriptions that messages can be delivered to.
pub(crate) fn prologue() -> [Operation; 6] {
    let subscribe = |name, mode| {
        let (name, receipt, daring) = (Some(name), false, false);
        Operation::Subscribe { name, mode, receipt, daring }
    };
    let confirm = || Operation::Confirm(0);
    [subscribe(0, 0), subscribe(1, 1), Operation::Drive, confirm(), confirm(), Operation::Drive]
}

pub(super) fn setups() -> impl Strategy<Value = (Setup, Answers)> {
    let version = prop::sample::select(Version::ALL.to_vec());
    let dialects = [Dialect::LENIENT, Dialect::LENIENT, Dialect::SPEC, Dialect::KUBEMQ];
    let dialect = prop::sample::select(dialects.to_vec());
    let chunking = prop_oneof![
        Just(Chunking::Whole),
        Just(Chunking::Octets),
        any::<u64>().prop_map(Chunking::Random),
    ];
    let latencies = prop::array::uniform2((0..60_u64).prop_map(ms));
    let beat = || prop_oneof![Just(0), 300..3000_u32];
    let beats = (beat(), beat(), beat(), beat());
    let is_late = any::<bool>();
    (version, dialect, chunking, latencies, beats, is_late).prop_map(
        |(version, dialect, chunking, latencies, beats, is_late)| {
            let (ours, theirs) = ((beats.0, beats.1), (beats.2, beats.3));
            let heart_beat = |(can_send, wants)| HeartBeat { can_send, wants };
            let mut setup = Setup::new(version, chunking).dialect(dialect);
            setup.client = setup.client.heart_beat(heart_beat(ours));
            setup.accept = setup.accept.heart_beat(heart_beat(theirs));
            setup.latencies = latencies;
            (setup, if is_late { Answers::Later } else { Answers::AtOnce })
        },
    )
}
