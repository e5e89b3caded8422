//! Proves that `stomp-proto` links without `std`: a second panic handler would be an error.

#![no_std]

mod sensor;

use core::alloc::{GlobalAlloc, Layout};
use core::panic::PanicInfo;
use core::ptr::null_mut;

use stomp_proto::codec::{Decoder, DecoderConfig};

struct NoMemory;

// SAFETY: handing out no memory at all is always sound.
unsafe impl GlobalAlloc for NoMemory {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        null_mut()
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static ALLOCATOR: NoMemory = NoMemory;

#[panic_handler]
fn halt(_: &PanicInfo<'_>) -> ! {
    loop {}
}

/// The number of frames in `len` octets at `octets`.
///
/// # Safety
///
/// The octets must be readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn count_frames(octets: *const u8, len: usize) -> usize {
    // SAFETY: the caller says so.
    let octets = unsafe { core::slice::from_raw_parts(octets, len) };
    let mut decoder = Decoder::new(DecoderConfig::default());
    decoder.push(octets);
    core::iter::from_fn(|| decoder.next_item().ok().flatten()).count()
}
