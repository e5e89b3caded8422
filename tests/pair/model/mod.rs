//! Properties of both ends together, under any operations in any order.

mod answering;
mod asking;
pub(crate) mod books;
pub(crate) mod chaos;
pub(crate) mod endings;
pub(crate) mod operations;
pub(crate) mod player;
mod silence;
mod texts;

use proptest::prelude::*;

use crate::broker::Answers;
use crate::harness::Setup;
use operations::{Operation, operations, setups};
use player::Player;

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// A pair, and what happens to it.
pub(crate) type Game = ((Setup, Answers), Vec<Operation>);

fn games() -> impl Strategy<Value = Game> {
    (setups(), operations())
}

/// Holds both ends against the books.
pub(crate) fn play((setup, operations): Game) {
    let mut player = Player::new(setup);
    for operation in &operations {
        player.play(operation);
    }
    player.finish();
}

proptest! {
    #![proptest_config(cases(600))]

    /// Whatever a request comes to is what the books say: which messages it settles and in which
    /// order, what a transaction holds, carries out or gives back, what is left open at the end; and
    /// what is against the rules, for which there is no other ERROR and no other end.
    #[test]
    fn both_ends_do_what_plain_books_say(game in games()) {
        play(game);
    }
}
