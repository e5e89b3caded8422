//! The sensor of the guide: how little memory it takes, whatever its broker does.

use super::counting::{held, peak};

include!("../../src/guide/embedded/sensor.rs");

/// What the guide says of its peak, and of what it has when nothing happens.
const PEAK: isize = 4 << 10;
const IDLE: usize = 2 << 10;

/// A broker that says one thing over and over, and reads as much as it likes.
struct Broker<'a> {
    octets: core::iter::Cycle<core::slice::Iter<'a, u8>>,
    says: usize,
    reads: usize,
}

impl Wire for Broker<'_> {
    fn read(&mut self, octets: &mut [u8]) -> usize {
        let len = octets.len().min(self.says);
        self.says -= len;
        for (to, from) in octets.iter_mut().zip(&mut self.octets).take(len) {
            *to = *from;
        }
        len
    }

    fn write(&mut self, octets: &[u8]) -> usize {
        octets.len().min(self.reads)
    }
}

const CONNECTED: &[u8] = b"CONNECTED\nversion:1.2\nheart-beat:30000,30000\n\n\0";

fn connected() -> Sensor {
    let mut sensor = Sensor::new(Millis(0)).unwrap();
    let octets = CONNECTED.iter().cycle();
    let mut wire = Broker { octets, says: CONNECTED.len(), reads: usize::MAX };
    sensor.turn(Millis(0), &mut wire);
    assert!(sensor.due() == Some(Millis(25_000)), "connected, with a beat to come");
    sensor
}

#[test]
fn whatever_the_broker_does_it_takes_little() {
    let head = b"MESSAGE\ndestination:/a\nmessage-id:1\nsubscription:1\n";
    let lines = b"name:value\n".repeat(16);
    let mut long =
        b"MESSAGE\ndestination:/a\nmessage-id:1\nsubscription:1\ncontent-length:1024\n\n".to_vec();
    long.extend([b'x'; 1024]);
    long.push(0);
    let mut endless = [&head[..], b"\n"].concat();
    endless.extend([b'x'; 2000]);
    let says: [&[u8]; 6] = [
        b"\n",
        b"RECEIPT\nreceipt-id:x\n\n\0",
        &[&head[..], b"\n\0"].concat(),
        &[&head[..], &lines].concat(),
        &long,
        &endless,
    ];
    for octets in says {
        for reads in [0, 7, usize::MAX] {
            let peak = peak(|| {
                let mut sensor = connected();
                for turn in 0..2000_u32 {
                    sensor.measure(turn);
                    let says = 3 * octets.len();
                    let mut wire = Broker { octets: octets.iter().cycle(), says, reads };
                    sensor.turn(Millis(1), &mut wire);
                }
            });
            assert!(peak < PEAK, "{peak} octets for {}", octets.escape_ascii());
        }
    }
}

#[test]
fn idle_it_has_nearly_nothing() {
    let (on_the_heap, sensor) = held(|| {
        let mut sensor = connected();
        let mut silence = Broker { octets: [].iter().cycle(), says: 0, reads: usize::MAX };
        for seconds in 1..4 {
            sensor.turn(Millis(1000 * seconds), &mut silence);
        }
        sensor
    });
    let held = usize::try_from(on_the_heap).unwrap() + size_of_val(&sensor);
    assert!(held < IDLE, "{held} octets");
}
