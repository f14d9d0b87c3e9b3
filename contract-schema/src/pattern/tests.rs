//! Portable patterns match what the written ones match.

use proptest::prelude::*;
use regex_lite::Regex;

use super::{literal, portable};

#[test]
fn syntax_characters_alone_are_escaped() {
    assert_eq!(literal("a/b-c").unwrap(), "a/b-c");
    assert_eq!(literal("1.5 (a|b)").unwrap(), r"1\.5 \(a\|b\)");
    assert_eq!(literal(""), Some(String::new()));
}

#[test]
fn what_engines_count_differently_has_no_pattern() {
    for text in ["é", "a\u{1F600}", "a\nb", "\0", "\x7f", "\u{feff}"] {
        assert_eq!(literal(text), None, "{text:?}");
    }
}

#[test]
fn classes_are_spelled_out() {
    for (pattern, written) in [
        (r"^\d+$", "^[0-9]+$"),
        (r"\w\s", r"[0-9A-Z_a-z][\t-\r ]"),
        (r"[[:alpha:]_]", "[A-Z_a-z]"),
        (r"(a|b)(?P<n>c)(?:d)", "(?:a|b)(?:c)(?:d)"),
        (r"\Aa\z", "^a$"),
        (r"a+?b*?", "a+b*"),
        (r"a{2}b{3,}c{4,5}", "a{2}b{3,}c{4,5}"),
        (r"(?:a{2}){3}", "(?:a{2}){3}"),
        (r"a**", "(?:a*)*"),
        (r"\-\/\#\x41\u{42}", "-/#AB"),
        (r"[a\-z]", "[az-]"),
        (r"[+-\-]", "[+,-]"),
        (r"[*-\-]", "[*-,-]"),
        (r"[-./]", "[./-]"),
        (r"[-.-9]", "[.-9-]"),
        (r"[ -~]", "[ -~]"),
        (r"[-]", "-"),
        (r"[\]\\^\[]", r"[\[-\^]"),
        (r"[$.*+?(){}|]", "[$(-+.?{-}]"),
        (r"[&\&|\|~\~]", "[&|~]"),
        ("]}", r"\]\}"),
        ("a||b", "a||b"),
        ("", ""),
    ] {
        assert_eq!(portable(pattern).as_deref(), Some(written), "{pattern}");
    }
}

#[test]
fn what_engines_read_differently_is_not_portable() {
    let patterns = r"(?i)a (?i:a) (?m)^a a.b \bab \Ba [^a] \D \W \S [\D] \pL \p{Greek} é [é] [a-é] [a&&b] [a[b]] [a--b] ^*
        (?:a{100}){100} a{1001} \x00 \x{1F600} [[:cntrl:]] [[:^alpha:]] ( a{2,1} (?=a) \1 a{,3}b{ [\x00-\x7f]";
    for pattern in patterns.split_whitespace() {
        assert_eq!(portable(pattern), None, "{pattern}");
    }
}

/// Patterns of the parts that engines share and of some that they do not.
fn patterns() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        "[ -~]".prop_map(|letter| literal(&letter).unwrap()),
        "[a-c]{1,2}",
        Just(r"\d".to_owned()),
        Just(r"\w".to_owned()),
        Just(r"\s".to_owned()),
        Just("^".to_owned()),
        Just("$".to_owned()),
        Just(r"\n".to_owned()),
        r"\[[ -Z_-~]{1,4}\]",
        r"\[[!-,]-[.-9]\]",
        Just(r"[+-\-]".to_owned()),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a}{b}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(?:{a}|{b})")),
            inner.clone().prop_map(|a| format!("({a})")),
            (inner, "[*+?]|\\{[0-2]\\}|\\{1,[1-3]\\}|\\*\\?")
                .prop_map(|(a, times)| format!("(?:{a}){times}")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn the_rewritten_pattern_finds_what_the_written_one_finds(pattern in patterns(), text in "[ -~\n\té]{0,6}|[a-c0 \n]{0,5}") {
        let Ok(native) = Regex::new(&pattern) else { return Ok(()) };
        let Some(rewritten) = portable(&pattern) else { return Ok(()) };
        let ours = Regex::new(&rewritten).unwrap();
        prop_assert_eq!(native.is_match(&text), ours.is_match(&text), "{} {}", pattern, rewritten);
        // Writing it again changes nothing.
        prop_assert_eq!(portable(&rewritten), Some(rewritten));
    }

    #[test]
    fn a_literal_matches_itself_alone(text in "[ -~]{0,8}", other in "[ -~]{0,8}") {
        let pattern = format!("^{}$", literal(&text).unwrap());
        let native = Regex::new(&pattern).unwrap();
        prop_assert!(native.is_match(&text));
        prop_assert_eq!(native.is_match(&other), text == other);
        prop_assert_eq!(portable(&pattern), Some(pattern));
    }
}
