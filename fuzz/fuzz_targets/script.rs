//! The start of an input as a list of choices that never ends, the rest as octets.

/// So many octets of an input are choices.
const LEN: usize = 32;

pub(crate) struct Script<'a> {
    choices: &'a [u8],
    at: usize,
}

impl<'a> Script<'a> {
    /// A script, and what comes behind it.
    pub(crate) fn of(input: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (choices, octets) = input.split_at_checked(LEN)?;
        Some((Self { choices, at: 0 }, octets))
    }

    /// The next choice, below `count`.
    pub(crate) fn choose(&mut self, count: usize) -> usize {
        let choice = self.choices[self.at % LEN];
        self.at += 1;
        // Not the same again in the next round.
        (usize::from(choice) + self.at / LEN) % count
    }

    pub(crate) fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.choose(all.len())].clone()
    }
}
