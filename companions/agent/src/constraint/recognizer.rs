//! Matches a reply against the grammar byte by byte, and stops at the first byte that cannot match.

use std::fmt;
use std::sync::OnceLock;

use llguidance::api::TopLevelGrammar;
use llguidance::{Matcher, ParserFactory};
use parking_lot::Mutex;
use toktrie::{ApproximateTokEnv, TokEnv};

use super::Constraint;
use super::ConstraintError;
use super::engine;

/// How much of the text before a mismatch is shown, and of each thing that was expected, in characters.
const SHOWN: usize = 40;
/// The most things that are named as expected.
const NAMED: usize = 12;

/// The grammar as the engine has read it, over single bytes, made at the first use.
#[derive(Default)]
pub(super) struct Compiled(OnceLock<Result<Mutex<Matcher>, ConstraintError>>);

/// A matcher for a grammar over the tokens of a vocabulary.
pub(super) fn matcher(
    constraint: &Constraint,
    tokens: &TokEnv,
) -> Result<Matcher, ConstraintError> {
    let refused = |message: String| ConstraintError::Engine { message };
    let mut factory =
        ParserFactory::new_simple(tokens).map_err(|error| refused(error.to_string()))?;
    factory.quiet();
    let grammar = TopLevelGrammar::from_json_schema(engine::prepare(constraint.json_schema()));
    let mut matcher = Matcher::new(factory.create_parser(grammar));
    match matcher.get_error() {
        Some(message) => Err(refused(message)),
        None => matcher
            .is_accepting()
            .map(|_| matcher)
            .map_err(|error| refused(error.to_string())),
    }
}

impl Constraint {
    /// Creates a recognizer of texts that satisfy the constraint.
    ///
    /// ```
    /// use contract_agent::Constraint;
    /// use serde_json::json;
    ///
    /// let constraint = Constraint::from_schema(json!({"enum": ["red", "green"]}))?;
    /// let mut recognizer = constraint.recognizer()?;
    /// recognizer.push("\"gr").unwrap();
    /// let mismatch = recognizer.push("ay\"").unwrap_err();
    /// assert_eq!(
    ///     mismatch.to_string(),
    ///     "at character 4, after `\"gr`: `a` is not allowed here; expected `een\"`",
    /// );
    /// # Ok::<(), contract_agent::ConstraintError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ConstraintError::Engine`] when the grammar is too large for the engine.
    pub fn recognizer(&self) -> Result<Recognizer, ConstraintError> {
        let compiled =
            self.0.compiled.0.get_or_init(|| {
                matcher(self, &ApproximateTokEnv::single_byte_env()).map(Mutex::new)
            });
        let matcher = compiled.as_ref().map_err(Clone::clone)?;
        Ok(Recognizer {
            matcher: matcher.lock().deep_clone(),
            before: String::new(),
            characters: 0,
            begun: false,
        })
    }
}

/// Checks a text as it comes; see [`Constraint::recognizer`].
pub struct Recognizer {
    matcher: Matcher,
    /// The end of what was read.
    before: String,
    characters: usize,
    begun: bool,
}

impl Recognizer {
    /// Matches the next piece of the text; white space before and after the value is skipped.
    ///
    /// # Errors
    ///
    /// [`Mismatch`] at the first character that no continuation can repair.
    pub fn push(&mut self, text: &str) -> Result<(), Mismatch> {
        let mut bytes = [0; 4];
        for letter in text.chars() {
            let white = matches!(letter, ' ' | '\t' | '\r' | '\n');
            if white && (!self.begun || self.matcher.is_stopped()) {
                self.note(letter);
                continue;
            }
            self.begun = true;
            for byte in letter.encode_utf8(&mut bytes).bytes() {
                let read = !self.matcher.is_stopped()
                    && self
                        .matcher
                        .try_consume_tokens(&[byte.into()])
                        .is_ok_and(|read| read == 1);
                if !read {
                    return Err(self.mismatch(Some(letter)));
                }
            }
            self.note(letter);
        }
        Ok(())
    }

    /// Ends the text, and checks that it is complete.
    ///
    /// # Errors
    ///
    /// [`Mismatch`] when something is missing.
    pub fn finish(mut self) -> Result<(), Mismatch> {
        if self.begun && self.matcher.is_accepting().unwrap_or_default() {
            return Ok(());
        }
        Err(self.mismatch(None))
    }

    /// Returns whether the text may end here.
    #[must_use]
    pub fn may_end(&mut self) -> bool {
        self.begun && self.matcher.is_accepting().unwrap_or_default()
    }

    /// Returns the bytes that may come next; none if nothing may.
    #[must_use]
    pub fn next_bytes(&mut self) -> Vec<u8> {
        if self.matcher.is_stopped() {
            return Vec::new();
        }
        let mask = self.matcher.compute_mask();
        mask.map_or_else(
            |_| Vec::new(),
            |mask| {
                (0..=u8::MAX)
                    .filter(|byte| mask.is_allowed(u32::from(*byte)))
                    .collect()
            },
        )
    }

    fn note(&mut self, letter: char) {
        self.characters += 1;
        self.before.push(letter);
        if self.before.len() > 16 * SHOWN {
            self.before = last(&self.before);
        }
    }

    #[cold]
    fn mismatch(&mut self, found: Option<char>) -> Mismatch {
        let allowed: Vec<u8> = self
            .next_bytes()
            .into_iter()
            .filter(|byte| !b" \t\r\n".contains(byte))
            .collect();
        let mut expected = Vec::new();
        let text = allowed.iter().any(|byte| !byte.is_ascii());
        if text {
            expected.push("text".to_owned());
        }
        let digits: Vec<u8> = allowed.iter().copied().filter(u8::is_ascii_digit).collect();
        let several = !text && digits.len() > 2;
        if let (true, Some(first), Some(last)) = (several, digits.first(), digits.last()) {
            expected.push(format!(
                "a digit from {} to {}",
                char::from(*first),
                char::from(*last)
            ));
        }
        for byte in allowed {
            let told = (text && !b"\"\\".contains(&byte)) || (several && byte.is_ascii_digit());
            if !told && expected.len() < NAMED {
                expected.push(format!("`{}`", self.forced(byte)));
            }
        }
        if expected.is_empty() {
            expected.push("the end".to_owned());
        }
        Mismatch {
            position: self.characters + 1,
            before: last(&self.before),
            found,
            expected,
        }
    }

    /// What must follow where a byte comes next, with that byte.
    fn forced(&self, byte: u8) -> String {
        let mut ahead = self.matcher.deep_clone();
        let mut bytes = vec![byte];
        if ahead.consume_token(byte.into()).is_ok() && !ahead.is_stopped() {
            bytes.extend(ahead.compute_ff_bytes());
        }
        String::from_utf8_lossy(&bytes)
            .chars()
            .take(SHOWN)
            .collect()
    }
}

fn last(text: &str) -> String {
    let skipped = text.chars().count().saturating_sub(SHOWN);
    text.chars().skip(skipped).collect()
}

impl fmt::Debug for Recognizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recognizer")
            .field("characters", &self.characters)
            .finish_non_exhaustive()
    }
}

/// Where a text does not match its grammar, and what was expected there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub struct Mismatch {
    /// The position of the mismatch in characters, from 1.
    pub position: usize,
    /// The text before it, at most 40 characters.
    pub before: String,
    /// The character found; `None` if the text ended too early.
    pub found: Option<char>,
    /// What was expected there.
    pub expected: Vec<String>,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            position,
            before,
            found,
            expected,
        } = self;
        match (found, before.is_empty()) {
            (Some(found), true) => write!(f, "`{found}` is not allowed at the beginning")?,
            (Some(found), false) => {
                write!(
                    f,
                    "at character {position}, after `{before}`: `{found}` is not allowed here"
                )?;
            }
            (None, true) => write!(f, "the text is empty")?,
            (None, false) => write!(f, "it ends too early, after `{before}`")?,
        }
        write!(f, "; expected {}", expected.join(" or "))
    }
}
