//! The table of what the attacks came to.

use std::io::{Write, stdout};

use crate::attack::{Attack, Measured};

/// Prints the table of those that came to what they had to, and what became of the others.
pub(crate) fn print(attacks: &[&Attack], results: &[Result<Measured, String>]) {
    let mut out = stdout().lock();
    writeln!(
        out,
        "| the peer | what answers | closed, says the log | peak, MiB | at most | bystander |\n\
         |---|---|---|--:|--:|--:|"
    )
    .unwrap();
    let mut failed = Vec::new();
    for (attack, result) in attacks.iter().zip(results) {
        let Attack { name, does, answer, logged, ceiling, .. } = attack;
        match result {
            Ok(Measured { peak, rounds, slowest }) => {
                let peak = peak.map_or("?".into(), |peak| peak.to_string());
                let slowest = slowest.as_millis();
                writeln!(
                    out,
                    "| `{name}`: {does} | {answer} | {logged} | {peak} | {ceiling} | \
                     {rounds} rounds, {slowest} ms |"
                )
                .unwrap();
            }
            Err(error) => failed.push((name, error)),
        }
    }
    for (name, error) in &failed {
        writeln!(out, "\nFAILED {name}: {error}").unwrap();
    }
    let passed = attacks.len() - failed.len();
    writeln!(out, "\n{passed} of {} attacks came to what they had to\n", attacks.len()).unwrap();
}
