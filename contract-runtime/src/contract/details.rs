//! Details of a violation beyond its condition: values and message.

use serde::Serialize;
use serde_json::{Map, Value};

use super::condition::Condition;
use super::question_text::QuestionText;
use super::scope::Scope;
use super::type_kind::Unwritable;
use super::values::Values;
use super::violation::MASK;

/// The values, the message, and the question of a condition that asks.
pub(crate) type Seen = (Values, Option<String>, Option<QuestionText>);

/// What a violation says beyond its condition; filled by generated code, only on failure.
#[derive(Debug)]
pub struct Details<'c> {
    /// Where the arguments are as they were sent, when the function was called by name.
    sent: Option<&'c Scope>,
    values: Values,
    message: Option<String>,
    question: Option<QuestionText>,
}

impl<'c> Details<'c> {
    pub(crate) fn new(sent: Option<&'c Scope>) -> Self {
        Self {
            sent,
            values: Values::new(),
            message: None,
            question: None,
        }
    }

    /// Notes that the author's code panicked before the message was complete.
    #[cold]
    pub(crate) fn leave_out_message(&mut self) {
        self.message.get_or_insert_default();
    }

    pub(crate) fn into_parts(self) -> Seen {
        (self.values, self.message, self.question)
    }

    /// Adds the value of a parameter; one that cannot be written as JSON is shown as it was sent.
    pub fn value(&mut self, name: &str, value: Option<Value>) {
        let value = match value {
            None => self.sent_value(name),
            Some(Value::Number(number)) if number.is_f64() => {
                let value = Value::Number(number);
                let sent = self.sent_value(name);
                Some(
                    sent.filter(|sent| is_same_f32(sent, &value))
                        .unwrap_or(value),
                )
            }
            value => value,
        };
        if let Some(value) = value {
            self.values.insert(name, value);
        }
    }

    fn sent_value(&self, name: &str) -> Option<Value> {
        let mut sent: Map<String, Value> = serde_json::from_str(&self.sent?.arguments).ok()?;
        sent.remove(name)
    }

    /// Adds the result, unless it cannot be written as JSON; a long one is cut.
    pub fn result(&mut self, name: &str, value: Option<Value>) {
        let Some(value) = value else { return };
        let text = value.to_string();
        let cut = bounded(&format_args!("{text}"));
        let value = if cut == text { value } else { cut.into() };
        self.values.insert(name, value);
    }

    /// Names a secret parameter without its value.
    pub fn secret(&mut self, name: &str) {
        self.values.insert(name, MASK);
    }

    /// Writes the question of a condition that asks.
    pub fn question(&mut self, write: impl FnOnce(&mut QuestionText)) {
        let mut text = QuestionText::default();
        write(&mut text);
        self.question = Some(text);
    }

    /// Sets the message, which is cut if it is too long.
    pub fn message(&mut self, message: std::fmt::Arguments<'_>) {
        self.message = Some(bounded(&message));
    }
}

/// Whether they differ, and an `f32` is both of them: as an `f64`, it is written with more digits than were sent.
#[allow(
    clippy::cast_possible_truncation,
    reason = "it is compared as an `f32`"
)]
fn is_same_f32(sent: &Value, value: &Value) -> bool {
    match (sent.as_f64(), value.as_f64()) {
        (Some(sent), Some(value)) => {
            let single = (sent as f32).total_cmp(&(value as f32));
            single.is_eq() && sent.total_cmp(&value).is_ne()
        }
        _ => false,
    }
}

/// What a violation says in words, and what a log may show of it.
#[derive(Debug)]
pub(crate) struct Sentence {
    pub(crate) message: Option<String>,
    /// With its placeholders unfilled, if it has any; empty where the condition itself made the sentence.
    pub(crate) template: Option<String>,
}

impl Sentence {
    /// What the condition itself returned, which may contain any value; otherwise the author's message, filled if it has placeholders,
    /// and without one where it could not be filled.
    pub(crate) fn of(condition: &Condition, why: Option<String>, filled: Option<String>) -> Self {
        if let Some(why) = why {
            return Self {
                message: Some(why),
                template: Some(String::new()),
            };
        }
        let text = || condition.message().map(str::to_owned);
        if filled.as_ref().is_some_and(String::is_empty) {
            return Self {
                message: text().filter(|text| !text.contains('{')),
                template: None,
            };
        }
        Self {
            template: filled
                .as_ref()
                .and_then(|_| Some(renamed(text()?, condition))),
            message: filled.or_else(text),
        }
    }

    /// Creates a sentence without values, which this library writes about a condition.
    pub(crate) fn without_values(sentence: String) -> Self {
        Self {
            message: Some(sentence),
            template: None,
        }
    }
}

/// The message with the model's names of the parameters in its placeholders, by which a violation has their values.
fn renamed(mut text: String, condition: &Condition) -> String {
    for (own, name) in condition.renamed() {
        for end in ["}", ":"] {
            text = text.replace(&format!("{{{own}{end}"), &format!("{{{name}{end}"));
        }
    }
    text
}

/// The longest message of a violation, in characters: a sentence, even where it shows a parameter of a megabyte.
const MESSAGE: usize = 2_000;

pub(crate) fn bounded(message: &std::fmt::Arguments<'_>) -> String {
    let mut text = message.to_string();
    if let Some((end, _)) = text.char_indices().nth(MESSAGE) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// A parameter in view of a failed condition: written as JSON where its type can be.
///
/// The method of `JsonProbe` wins over the one of what it dereferences to, wherever its bound holds.
#[derive(Debug)]
pub struct JsonProbe<'a, T: ?Sized>(&'a T, Unwritable);

impl<'a, T: ?Sized> JsonProbe<'a, T> {
    /// Looks at a value.
    pub const fn new(value: &'a T) -> Self {
        Self(value, Unwritable)
    }
}

impl<T: ?Sized> std::ops::Deref for JsonProbe<'_, T> {
    type Target = Unwritable;
    fn deref(&self) -> &Unwritable {
        &self.1
    }
}

impl<T: ?Sized + Serialize> JsonProbe<'_, T> {
    /// Returns the value as JSON, if it can be written.
    #[must_use]
    pub fn json(&self) -> Option<Value> {
        serde_json::to_value(self.0).ok()
    }
}
