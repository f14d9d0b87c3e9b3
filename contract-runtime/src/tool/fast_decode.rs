//! The fast path of argument decoding: one pass over the arguments into typed slots.
//!
//! It reads only what is plainly well-formed; anything else is `FallBack`, and the cold path judges the whole text with a
//! real parser. So it may refuse a legal text, but never accept an illegal one.

use std::sync::Arc;

use serde::de::IgnoredAny;

use super::dynamic_contract::DynamicContract;
use super::failure::FailureKind;
use super::slot::Argument;
use crate::schema::arguments::{ErrorPosition, end_of_admitted, locate, rejected, with_formats};
use crate::schema::lexer::{Lexer, Unread};
use crate::schema::{InputSchema, Parameter};

/// What the dispatcher must know to read the arguments of one tool.
#[derive(Debug)]
pub(crate) struct Inputs {
    pub(crate) schema: InputSchema,
    pub(crate) coerce: bool,
    /// The conditions of a tool that no macro made.
    pub(crate) stated: Option<Arc<DynamicContract>>,
}

/// The text is not plainly a legal set of arguments.
#[derive(Debug)]
pub(crate) enum FallBack {
    Text,
    /// The type of this parameter refused its value, which begins there.
    Value(usize, usize, serde_json::Error),
    /// The type of this parameter took only a part of its value.
    Tail(usize),
}

impl From<Unread> for FallBack {
    fn from(_: Unread) -> Self {
        Self::Text
    }
}

impl FallBack {
    /// What is wrong, of a text that has already been put right: a type that refuses what its schema admits.
    #[cold]
    pub(crate) fn refuse(self, text: &str, inputs: &Inputs) -> FailureKind {
        let (index, begins, error) = match self {
            Self::Value(index, begins, error) => (index, begins, Some(error)),
            Self::Tail(index) => (index, 0, None),
            Self::Text => return FailureKind::unread(),
        };
        let Some(input) = inputs.schema.parameters().get(index) else {
            return FailureKind::unread();
        };
        // The text of a type's own error may repeat the value, and a key is a part of it.
        let error = error.filter(|_| !input.secret);
        let found = error.as_ref().and_then(|error| {
            let value = text.get(begins..)?;
            locate(value, error.line(), error.column())
        });
        let (below, is_key) =
            found.map_or_else(Default::default, |found| (found.pointer, found.is_key));
        let message = error.map(|error| without_place(&error.to_string()));
        let place = ErrorPosition {
            pointer: format!("/{}{below}", input.name),
            is_key,
        };
        let refusal = rejected(place, message.as_deref());
        FailureKind::InvalidArguments(Box::new(with_formats(text, &inputs.schema, refusal)))
    }
}

/// What serde says of a value, without a place that counts from somewhere inside the text.
fn without_place(message: &str) -> String {
    let end = message.rfind(" at line ").unwrap_or(message.len());
    message.get(..end).unwrap_or_default().to_owned()
}

/// Whether a text has been judged by the schema.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judged {
    Before,
    /// Each argument just before its type reads it, where that type accepts too much.
    OnTheWay,
}

/// Reads an object's members into the slots of the same names, and returns how many there were.
pub(crate) fn fill<'c>(
    text: &'c str,
    inputs: &Inputs,
    slots: &mut [&mut dyn Argument<'c>],
    judged: Judged,
) -> Result<usize, FallBack> {
    let schema = &inputs.schema;
    let inputs = schema.parameters();
    let lexer = Lexer::new(text);
    let mut at = lexer.behind_space(lexer.behind(0, b'{')?);
    let mut filled = 0;
    if lexer.byte(at) == b'}' {
        return end(&lexer, at + 1).map(|()| filled);
    }
    loop {
        // Most callers keep the order of the schema.
        let expected = inputs.get(filled);
        let behind = expected.and_then(|next| lexer.behind_key(at, &next.name));
        let index;
        (index, at) = match behind {
            Some(behind) => (filled, behind),
            None => named(&lexer, at, inputs)?,
        };
        let (Some(slot), Some(input)) = (slots.get_mut(index), inputs.get(index)) else {
            return Err(FallBack::Text);
        };
        let admitted = if input.is_exact || judged == Judged::Before {
            None
        } else {
            let end = |(rules, rule)| end_of_admitted(text, at, rules, rule);
            Some(schema.rule_of(index).and_then(end).ok_or(FallBack::Text)?)
        };
        let begins = at;
        at = slot
            .read(text, at)
            .map_err(|error| FallBack::Value(index, at, error))?
            .ok_or(FallBack::Text)?;
        if judged == Judged::Before && !is_value(text, begins, at) {
            return Err(FallBack::Tail(index));
        }
        if admitted.is_some_and(|end| end != at) {
            return Err(FallBack::Text);
        }
        filled += 1;
        at = lexer.behind_space(at);
        match lexer.byte(at) {
            b',' => at = lexer.behind_space(at + 1),
            b'}' => return end(&lexer, at + 1).map(|()| filled),
            _ => return Err(FallBack::Tail(index)),
        }
    }
}

/// Whether a type has read its value to the end. One that stops at a comma within would leave members of it for arguments.
#[cold]
fn is_value(text: &str, begins: usize, end: usize) -> bool {
    let value = text.get(begins..end).unwrap_or_default();
    serde_json::from_str::<IgnoredAny>(value).is_ok()
}

/// The place among the parameters of the key whose quote stands here, and the place of its value.
#[inline(never)]
fn named(
    lexer: &Lexer<'_>,
    quote: usize,
    inputs: &[Parameter],
) -> Result<(usize, usize), FallBack> {
    if lexer.byte(quote) != b'"' {
        return Err(FallBack::Text);
    }
    let key = lexer.string(quote)?;
    let name = key.text()?;
    let found = inputs.iter().position(|input| input.name == *name);
    let index = found.ok_or(FallBack::Text)?;
    Ok((index, lexer.behind_space(lexer.behind(key.end, b':')?)))
}

fn end(lexer: &Lexer<'_>, at: usize) -> Result<(), FallBack> {
    if lexer.ends(at) {
        return Ok(());
    }
    Err(FallBack::Text)
}
