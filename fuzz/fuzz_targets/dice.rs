//! An input as throws of dice, until it is used up.

pub(crate) struct Dice<'a>(pub(crate) &'a [u8]);

impl Dice<'_> {
    /// `None`: no more throws.
    pub(crate) fn throw(&mut self) -> Option<usize> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(usize::from(*first))
    }

    /// Below `count`; 0 when there are no more throws.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        let mut thrown = self.throw().unwrap_or(0);
        if count > 256 {
            thrown = thrown << 8 | self.throw().unwrap_or(0);
        }
        thrown % count
    }

    pub(crate) fn toss(&mut self) -> bool {
        self.below(2) == 1
    }

    /// True in one of so many.
    pub(crate) fn rarely(&mut self, one_of: usize) -> bool {
        self.below(one_of) == one_of - 1
    }

    pub(crate) fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }

    pub(crate) fn option(&mut self, count: usize) -> Option<usize> {
        self.toss().then(|| self.below(count))
    }
}
