//! An allocator that counts what each thread asks of it.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::Cell;
use std::alloc::System;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) allocations: usize,
    /// Octets that were asked for.
    pub(crate) octets: usize,
    /// Octets that are held more than before.
    pub(crate) held: isize,
}

/// What this thread allocates while `run` runs.
pub(crate) fn counted(run: impl FnOnce()) -> Count {
    let before = COUNT.get();
    run();
    COUNT.get().since(before)
}

/// What this thread holds more after `make` has made something, and that.
pub(crate) fn held<T>(make: impl FnOnce() -> T) -> (isize, T) {
    let before = COUNT.get();
    let kept = make();
    (COUNT.get().since(before).held, kept)
}

/// The most that this thread holds more at any moment while `run` runs.
pub(crate) fn peak(run: impl FnOnce()) -> isize {
    let before = COUNT.get().held;
    PEAK.set(before);
    run();
    PEAK.get() - before
}

impl Count {
    pub(crate) const NONE: Self = Self { allocations: 0, octets: 0, held: 0 };

    fn since(self, before: Self) -> Self {
        Self {
            allocations: self.allocations - before.allocations,
            octets: self.octets - before.octets,
            held: self.held - before.held,
        }
    }
}

thread_local! {
    static COUNT: Cell<Count> = const { Cell::new(Count::NONE) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

impl Counting {
    /// Counts a block that was given, in the place of one of `before` octets.
    fn count(octets: usize, before: usize) {
        let mut count = COUNT.get();
        count.allocations += 1;
        count.octets += octets;
        // A block that is moved is there twice for a moment.
        PEAK.set(PEAK.get().max(count.held + signed(octets)));
        count.held += signed(octets) - signed(before);
        COUNT.set(count);
    }

    fn count_back(octets: usize) {
        let mut count = COUNT.get();
        count.held -= signed(octets);
        COUNT.set(count);
    }
}

/// No block is larger.
fn signed(octets: usize) -> isize {
    isize::try_from(octets).unwrap_or(isize::MAX)
}

// SAFETY: everything is left to the allocator of the system; the counters are constant-initialised
// cells of the thread without a destructor, so that counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::count(layout.size(), 0);
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::count(layout.size(), 0);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::count(size, layout.size());
        // SAFETY: as above; the block came from `System`.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        Self::count_back(layout.size());
        // SAFETY: as above; the block came from `System`.
        unsafe { System.dealloc(block, layout) }
    }
}
