//! The routing patterns of a topic exchange: words between dots, `*` for one, `#` for any number.

/// Whether it stands for any key but itself.
pub(super) fn is_one(pattern: &str) -> bool {
    pattern.split('.').any(|word| matches!(word, "*" | "#"))
}

/// Whether a routing key fits a pattern, for one key and many patterns.
pub(super) fn fitting(key: &str) -> impl Fn(&str) -> bool {
    let key: Vec<&str> = key.split('.').collect();
    move |pattern| matches(pattern, &key)
}

fn matches(pattern: &str, key: &[&str]) -> bool {
    let pattern: Vec<&str> = pattern.split('.').collect();
    let (mut at, mut word) = (0, 0);
    // Where the last `#` stands, and how many words it has taken. An earlier one need not take more.
    let mut any: Option<(usize, usize)> = None;
    while word < key.len() {
        match pattern.get(at) {
            Some(&"#") => {
                any = Some((at, word));
                at += 1;
            }
            Some(&wanted) if wanted == "*" || key.get(word) == Some(&wanted) => {
                at += 1;
                word += 1;
            }
            _ => {
                let Some((position, taken)) = any else { return false };
                any = Some((position, taken + 1));
                (at, word) = (position + 1, taken + 1);
            }
        }
    }
    pattern.iter().skip(at).all(|wanted| *wanted == "#")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, key: &str) -> bool {
        fitting(key)(pattern)
    }

    #[test]
    fn a_pattern_is_a_word_of_its_own() {
        for (pattern, expected) in
            [("", false), ("a.b", false), ("a*.#b", false), ("*", true), ("a.#", true)]
        {
            assert_eq!(is_one(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn a_star_is_one_word_and_a_hash_any_number() {
        for (pattern, fitting, unfit) in [
            ("a.b", &["a.b"][..], &["a", "a.b.c", "a.c", "A.b", ""][..]),
            ("*", &["a", ""], &["a.b"]),
            ("a.*.c", &["a.b.c", "a..c"], &["a.c", "a.b.b.c"]),
            ("#", &["", "a", "a.b.c"], &[]),
            ("a.#", &["a", "a.b", "a.b.c"], &["b", "ab"]),
            ("#.c", &["c", "a.c", "a.c.c"], &["a", "c.a"]),
            ("#.a.#.b.#", &["a.b", "x.a.y.b.z", "a.a.b.b"], &["b.a", "a", "b"]),
            ("#.*", &["a", "a.b", ""], &[]),
            ("a.#.#.b", &["a.b", "a.x.b"], &["a", "a.b.c"]),
            ("*.#.*", &["a.b", "a.b.c"], &["a"]),
            ("a*", &["a*"], &["ab"]),
        ] {
            for key in fitting {
                assert!(matches(pattern, key), "{pattern} {key}");
            }
            for key in unfit {
                assert!(!matches(pattern, key), "{pattern} {key}");
            }
        }
    }

    #[test]
    fn many_hashes_take_no_longer_than_pattern_times_key() {
        let pattern = vec!["#.a"; 2000].join(".") + ".b";
        let key = vec!["a"; 4000].join(".");
        assert!(!matches(&pattern, &key));
    }
}
