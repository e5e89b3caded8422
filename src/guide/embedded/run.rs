
/// A wire that takes eight octets at a time.
#[derive(Default)]
struct Trickle {
    incoming: std::collections::VecDeque<u8>,
    written: Vec<u8>,
}

impl Wire for Trickle {
    fn read(&mut self, octets: &mut [u8]) -> usize {
        let len = octets.len().min(8).min(self.incoming.len());
        for (to, from) in octets.iter_mut().zip(self.incoming.drain(..len)) {
            *to = from;
        }
        len
    }

    fn write(&mut self, octets: &[u8]) -> usize {
        let len = octets.len().min(8);
        self.written.extend_from_slice(&octets[..len]);
        len
    }
}

fn main() -> Result<(), UsageError> {
    let mut wire = Trickle::default();
    let mut sensor = Sensor::new(Millis(0))?;

    // A value is there before the broker is: it waits.
    sensor.measure(20);
    sensor.turn(Millis(5), &mut wire);
    assert!(wire.written.starts_with(b"CONNECT\n") && wire.written.ends_with(b"\n\n\0"));
    wire.written.clear();
    assert_eq!(sensor.due(), Some(Millis(10_000)));

    wire.incoming.extend(b"CONNECTED\nversion:1.2\nheart-beat:30000,30000\n\n\0");
    sensor.turn(Millis(40), &mut wire);
    let sent = b"SEND\ndestination:/queue/values\nreceipt:1\ncontent-length:4\n\n\0\0\0\x14\0";
    assert_eq!(wire.written, sent);
    wire.written.clear();

    // Confirmed; and a beat when it has been still for long, 5 s before it would be late.
    wire.incoming.extend(b"RECEIPT\nreceipt-id:1\n\n\0");
    sensor.turn(Millis(90), &mut wire);
    assert_eq!(sensor.confirmed, 1);
    sensor.turn(Millis(90), &mut wire);
    assert_eq!(sensor.due(), Some(Millis(25_040)));
    sensor.turn(Millis(25_040), &mut wire);
    assert_eq!(wire.written, b"\n");

    // A broker that announces more than there is room for is left, before any of it comes.
    wire.incoming.extend(b"MESSAGE\ncontent-length:1000000\n");
    wire.incoming.extend(b"destination:/a\nmessage-id:1\nsubscription:1\n\n");
    sensor.turn(Millis(25_060), &mut wire);
    let end = sensor.end.map(|reason| reason.to_string());
    assert_eq!(end.as_deref(), Some("protocol error: body exceeds 1024 octets at octet 93"));
    Ok(())
}
