//! Both ends of a session under any operations, on a network that is late, cuts octets off and loses the
//! connection, with clocks that jump: what the properties of `tests/pair` say holds.

#![no_main]

extern crate alloc;

#[expect(dead_code, reason = "the tests want more of it")]
#[path = "../../tests/pair/broker.rs"]
mod broker;
mod dice;
#[expect(dead_code, reason = "the tests want more of it")]
#[path = "../../tests/pair/harness.rs"]
mod harness;
#[expect(dead_code, reason = "the tests want more of it")]
#[path = "../../tests/pair/listener.rs"]
mod listener;
#[expect(dead_code, unused_imports, reason = "the tests want more of it")]
#[path = "../../tests/pair/model/mod.rs"]
mod model;
#[expect(dead_code, reason = "the tests want more of it")]
#[path = "../../tests/pair/network.rs"]
mod network;

use broker::Answers;
use dice::Dice;
use harness::{Setup, ms};
use libfuzzer_sys::fuzz_target;
use model::chaos::{Whim, follow_all};
use model::operations::{MODES, NAMES, Operation, prologue};
use model::play;
use network::Chunking;
use stomp_proto::codec::Limits;
use stomp_proto::server::Dialect;
use stomp_proto::{HeartBeat, Version};

fuzz_target!(|input: &[u8]| {
    let mut dice = Dice(input);
    if dice.toss() {
        let dialect = dice.pick(&[Dialect::LENIENT, Dialect::SPEC, Dialect::KUBEMQ]);
        let mut setup = setup(&mut dice).dialect(dialect);
        setup.latencies = [ms(dice.below(60) as u64), ms(dice.below(60) as u64)];
        let answers = if dice.toss() { Answers::Later } else { Answers::AtOnce };
        let mut operations = prologue().to_vec();
        while let Some(kind) = dice.throw() {
            operations.push(operation(&mut dice, kind));
        }
        play(((setup, answers), operations));
    } else {
        let mut setup = setup(&mut dice);
        let mut limits = Limits::default();
        (limits.max_inbox_len, limits.max_outbox_len) =
            (50 + dice.below(5000), 50 + dice.below(5000));
        setup.client = setup.client.limits(limits.clone());
        setup.server.limits = limits;
        let mut whims = Vec::new();
        while let Some(kind) = dice.throw() {
            whims.push(whim(&mut dice, kind));
        }
        follow_all((setup, whims));
    }
});

fn setup(dice: &mut Dice<'_>) -> Setup {
    let version = dice.pick(&Version::ALL);
    let random = Chunking::Random(dice.below(256) as u64);
    let chunking = dice.pick(&[Chunking::Whole, Chunking::Octets, random]);
    let mut setup = Setup::new(version, chunking);
    let mut beat = || if dice.toss() { 300 + dice.below(3000) as u32 } else { 0 };
    let (ours, theirs) = ((beat(), beat()), (beat(), beat()));
    setup.client = setup.client.heart_beat(HeartBeat { can_send: ours.0, wants: ours.1 });
    setup.accept = setup.accept.heart_beat(HeartBeat { can_send: theirs.0, wants: theirs.1 });
    setup
}

fn operation(dice: &mut Dice<'_>, kind: usize) -> Operation {
    match kind % 24 {
        0 => Operation::Subscribe {
            name: dice.option(NAMES.len()),
            mode: dice.below(MODES.len()),
            receipt: dice.toss(),
            daring: dice.rarely(32),
        },
        1..=5 => Operation::Settle {
            nack: dice.toss(),
            token: dice.below(100),
            transaction: dice.option(100),
            receipt: dice.toss(),
            daring: dice.rarely(32),
        },
        6 => Operation::Unsubscribe { place: dice.below(100), receipt: dice.toss() },
        7 => Operation::Renew(dice.below(100)),
        8 => Operation::Send { transaction: dice.option(100), receipt: dice.toss() },
        9 => Operation::Begin,
        10 => Operation::End { commit: dice.toss(), place: dice.below(100), receipt: dice.toss() },
        11..=15 => Operation::Deliver {
            to: dice.below(100),
            message_id: dice.option(100),
            ack_id: dice.option(100),
            daring: dice.rarely(32),
        },
        16 | 17 => Operation::Confirm(dice.below(100)),
        18 => Operation::Release(dice.below(100)),
        19 => Operation::Turn,
        20 | 21 => Operation::Drive,
        22 => Operation::Wait(1 + dice.below(2000) as u64),
        _ => match dice.below(16) {
            0 => Operation::Disconnect,
            1 => Operation::Fail,
            2 => Operation::Lose,
            3 => Operation::CutUp,
            4 => Operation::CutDown,
            _ => Operation::Drive,
        },
    }
}

fn whim(dice: &mut Dice<'_>, kind: usize) -> Whim {
    match kind % 24 {
        0 | 1 => Whim::Subscribe(dice.pick(&MODES)),
        2 => Whim::Unsubscribe(dice.below(100)),
        3 => Whim::Send { len: dice.below(3000), receipt: dice.toss() },
        4 | 5 => Whim::Settle { nack: dice.toss() },
        6 => Whim::SendInTransaction { commit: dice.toss() },
        7..=9 => Whim::Publish(dice.below(3000)),
        10 | 11 => Whim::Confirm(dice.below(100)),
        12 => {
            let answers =
                [Answers::AtOnce, Answers::AtOnce, Answers::Later, Answers::Failing("no")];
            Whim::Answer(dice.pick(&answers))
        }
        13 => Whim::Appetite(dice.pick(&[0, 1, usize::MAX])),
        14 => Whim::Asleep(dice.rarely(3)),
        15 => Whim::Latency(dice.below(500) as u64),
        16 => Whim::Capacity(20 + dice.below(3000)),
        17 => Whim::Turn,
        18..=20 => Whim::Run(dice.below(2000) as u64),
        21 => Whim::Reconnect,
        22 => Whim::Oversleep(dice.below(10_000) as u64),
        _ => match dice.below(16) {
            0 => Whim::Disconnect,
            1 => Whim::Fail,
            2 => Whim::Silence { up: dice.toss() },
            3 => Whim::Cut { up: dice.toss(), ahead: dice.below(3000) },
            4 => Whim::Lose,
            _ => Whim::Run(dice.below(2000) as u64),
        },
    }
}
