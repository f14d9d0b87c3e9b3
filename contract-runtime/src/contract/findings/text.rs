//! Comparisons of texts, as `const fn`s.

pub(crate) const fn same(one: &str, other: &str) -> bool {
    one.len() == other.len() && begins(one.as_bytes(), other.as_bytes())
}

pub(super) const fn starts_with(text: &str, part: &str) -> bool {
    begins(text.as_bytes(), part.as_bytes())
}

pub(super) const fn ends_with(text: &str, part: &str) -> bool {
    match text.len().checked_sub(part.len()) {
        Some(start) => begins(text.as_bytes().split_at(start).1, part.as_bytes()),
        None => false,
    }
}

pub(super) const fn contains(text: &str, part: &str) -> bool {
    let mut rest = text.as_bytes();
    loop {
        if begins(rest, part.as_bytes()) {
            return true;
        }
        match rest.split_first() {
            Some((_, others)) => rest = others,
            None => return false,
        }
    }
}

const fn begins(mut text: &[u8], mut part: &[u8]) -> bool {
    loop {
        match (text.split_first(), part.split_first()) {
            (_, None) => return true,
            (Some((one, texts)), Some((other, parts))) if *one == *other => {
                text = texts;
                part = parts;
            }
            _ => return false,
        }
    }
}

/// Counts the code points: the bytes that do not continue one.
pub(super) const fn characters(text: &str) -> i128 {
    let mut rest = text.as_bytes();
    let mut count = 0;
    while let Some((byte, others)) = rest.split_first() {
        if *byte & 0b1100_0000 != 0b1000_0000 {
            count += 1;
        }
        rest = others;
    }
    count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_tests_answer_as_those_of_the_standard_library(text in "[abä]{0,5}", part in "[abä]{0,3}") {
            prop_assert_eq!(same(&text, &part), text == part);
            prop_assert_eq!(starts_with(&text, &part), text.starts_with(&part));
            prop_assert_eq!(ends_with(&text, &part), text.ends_with(&part));
            prop_assert_eq!(contains(&text, &part), text.contains(&part));
            prop_assert_eq!(characters(&text), text.chars().count() as i128);
        }
    }
}
