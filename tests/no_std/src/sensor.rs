//! The sensor of the guide, driven from C.

include!("../../../src/guide/embedded/sensor.rs");

/// What C calls for octets: it gives or takes at most `len`, and says how many.
type Carry = extern "C" fn(octets: *mut u8, len: usize) -> usize;

struct Calls {
    read: Carry,
    write: Carry,
}

impl Wire for Calls {
    fn read(&mut self, octets: &mut [u8]) -> usize {
        (self.read)(octets.as_mut_ptr(), octets.len()).min(octets.len())
    }

    fn write(&mut self, octets: &[u8]) -> usize {
        (self.write)(octets.as_ptr().cast_mut(), octets.len()).min(octets.len())
    }
}

/// Sends one value and waits for its end; whether it was confirmed.
#[unsafe(no_mangle)]
pub extern "C" fn send_value(clock: extern "C" fn() -> u64, read: Carry, write: Carry) -> bool {
    let Ok(mut sensor) = Sensor::new(Millis(clock())) else { return false };
    sensor.measure(42);
    while sensor.due().is_some() && sensor.end.is_none() && sensor.confirmed == 0 {
        sensor.turn(Millis(clock()), &mut Calls { read, write });
    }
    sensor.confirmed > 0
}
