//! The constants in the functions that conditions call, read from the source file of a tool.
//!
//! A predicate such as `is_known(code)` shows nothing of the values between which its function tells. As fuzzers fill their
//! dictionaries from a program, they are looked up where it is written; without the file there are none.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// The most functions that are followed from one tool.
const FUNCTIONS: usize = 20;

/// A piece of Rust, as far as it matters here.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Word(String),
    Integer(i128),
    Float(f64),
    Text(String),
    Sign(char),
}

/// Returns the pieces of the functions of a file that these predicates call, and that those call.
pub(super) fn called<'p>(location: &str, predicates: impl Iterator<Item = &'p str>) -> Vec<Token> {
    let mut names: Vec<String> = Vec::new();
    for predicate in predicates {
        names.extend(calls(&tokens(predicate)));
    }
    if names.is_empty() {
        return Vec::new();
    }
    let Some(text) = file(location).and_then(|file| std::fs::read_to_string(file).ok()) else {
        return Vec::new();
    };
    let bodies = bodies(&tokens(&text));
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    while let Some(name) = names.pop() {
        if seen.len() >= FUNCTIONS || !seen.insert(name.clone()) {
            continue;
        }
        if let Some(body) = bodies.get(&name) {
            names.extend(calls(body));
            found.extend(body.iter().cloned());
        }
    }
    found
}

/// The file of `src/tools.rs:12:4`, which is named from the folder that was built, somewhere above the one where tests run.
fn file(location: &str) -> Option<PathBuf> {
    let named = location.rsplitn(3, ':').nth(2)?;
    let here = std::env::current_dir().ok()?;
    let mut places = here.ancestors().map(|folder| folder.join(Path::new(named)));
    places.find(|place| place.is_file())
}

/// The names in front of a bracket.
fn calls(tokens: &[Token]) -> Vec<String> {
    let called = tokens.windows(2).filter_map(|pair| match pair {
        [Token::Word(name), Token::Sign('(')] => Some(name.clone()),
        _ => None,
    });
    called.collect()
}

/// The bodies of all functions, by name.
fn bodies(tokens: &[Token]) -> HashMap<String, Vec<Token>> {
    let mut bodies: HashMap<String, Vec<Token>> = HashMap::new();
    for (place, pair) in tokens.windows(2).enumerate() {
        let [Token::Word(word), Token::Word(name)] = pair else {
            continue;
        };
        if word != "fn" {
            continue;
        }
        let rest = tokens.iter().skip(place);
        let mut depth = 0_usize;
        let body = rest
            .skip_while(|token| **token != Token::Sign('{'))
            .take_while(|token| {
                match token {
                    Token::Sign('{') => depth += 1,
                    Token::Sign('}') => depth = depth.saturating_sub(1),
                    _ => {}
                }
                depth > 0
            });
        bodies
            .entry(name.clone())
            .or_default()
            .extend(body.cloned());
    }
    bodies
}

pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let (token, length) = token(rest, letter);
        tokens.extend(token);
        rest = rest
            .get(length.max(letter.len_utf8())..)
            .unwrap_or_default();
    }
    tokens
}

/// The next piece, if it is one, and its length.
fn token(text: &str, first: char) -> (Option<Token>, usize) {
    if text.starts_with("//") {
        return (None, text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return (None, text.find("*/").map_or(text.len(), |end| end + 2));
    }
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let word = || text.find(|letter| !is_word(letter)).unwrap_or(text.len());
    match first {
        '"' => quoted(text),
        '\'' => character(text),
        _ if first.is_ascii_digit() => number(text),
        _ if is_word(first) => {
            let end = word();
            let name = text.get(..end).unwrap_or_default();
            (Some(Token::Word(name.to_owned())), end)
        }
        _ if first.is_whitespace() => (None, first.len_utf8()),
        _ => (Some(Token::Sign(first)), first.len_utf8()),
    }
}

/// Escapes other than of a quote are left as they are.
fn quoted(text: &str) -> (Option<Token>, usize) {
    let mut escaped = false;
    for (place, letter) in text.char_indices().skip(1) {
        if letter == '"' && !escaped {
            let inner = text.get(1..place).unwrap_or_default();
            return (Some(Token::Text(inner.replace("\\\"", "\""))), place + 1);
        }
        escaped = letter == '\\' && !escaped;
    }
    (None, text.len())
}

/// A character, or the mark of a lifetime.
fn character(text: &str) -> (Option<Token>, usize) {
    let mut letters = text.chars().skip(1);
    match (letters.next(), letters.next()) {
        (Some(letter), Some('\'')) if letter != '\\' => {
            (Some(Token::Text(letter.to_string())), letter.len_utf8() + 2)
        }
        (Some('\\'), Some(_)) => (None, 4),
        _ => (None, 1),
    }
}

fn number(text: &str) -> (Option<Token>, usize) {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut end = text.find(|letter| !is_part(letter)).unwrap_or(text.len());
    let rest = text.get(end..).unwrap_or_default();
    let mut after = rest.chars().skip(1);
    // Not the dots of a range, or that of a method.
    if rest.starts_with('.') && after.next().is_some_and(|letter| letter.is_ascii_digit()) {
        let fraction = rest.get(1..).unwrap_or_default();
        end += 1 + fraction
            .find(|letter| !is_part(letter))
            .unwrap_or(fraction.len());
    }
    let plain = text.get(..end).unwrap_or_default().replace('_', "");
    let digits = plain.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let digits = ["i", "u", "f"]
        .iter()
        .find_map(|kind| plain.split_once(kind))
        .map_or(digits, |(digits, _)| digits);
    let token = match digits.parse::<i128>() {
        Ok(integer) => Some(Token::Integer(integer)),
        Err(_) => digits.parse().ok().map(Token::Float),
    };
    (token, end)
}

#[cfg(test)]
mod tests {
    use super::{Token, bodies, tokens};

    #[test]
    fn literals_of_a_function_are_read_and_those_of_its_comments_are_not() {
        let text = r#"
            /// Not 5.
            fn is_known(code: u32) -> bool {
                // Nor 6.
                matches!(code, 1_007 | 42u32 | 0..=3) && code as f64 <= 2.5 && 'x' == "y\"z"
            }
            fn other<'a>() { 9 }
        "#;
        let bodies = bodies(&tokens(text));
        let literals: Vec<&Token> = bodies["is_known"]
            .iter()
            .filter(|token| !matches!(token, Token::Word(_) | Token::Sign(_)))
            .collect();
        let text = |text: &str| Token::Text(text.to_owned());
        let expected = [
            Token::Integer(1_007),
            Token::Integer(42),
            Token::Integer(0),
            Token::Integer(3),
            Token::Float(2.5),
            text("x"),
            text("y\"z"),
        ];
        assert_eq!(literals, expected.iter().collect::<Vec<_>>());
        assert_eq!(bodies["other"].len(), 2);
    }
}
