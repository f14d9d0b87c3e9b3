//! What a model means by a text: a call, an answer, or neither.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::lenient::{Reader, Repair};
use crate::registry::Registry;

/// What a reply says.
#[derive(Debug, PartialEq)]
pub(super) struct Parsed {
    pub(super) thought: String,
    pub(super) step: Step,
}

#[derive(Debug, PartialEq)]
pub(super) enum Step {
    Call {
        tool: String,
        arguments: String,
        repairs: Vec<Repair>,
    },
    Answer(String),
    /// Neither; what to tell the model.
    Unclear(String),
}

/// The words that begin a part of a reply, as they are written at the beginning of a line.
const THOUGHT: &[&str] = &["Thought:", "Thinking:"];
const ACTION: &[&str] = &["Action:", "Tool:", "<tool_call>"];
const INPUT: &[&str] = &["Action Input:", "Arguments:", "Args:", "Input:"];
const ANSWER: &[&str] = &["Final Answer:", "Answer:"];
/// What only the program says; a model that writes it invents.
const OBSERVATION: &[&str] = &["Observation:", "<tool_result>"];

/// The keys under which a call stands in an object.
const NAMES: &[&str] = &["tool", "name", "action", "tool_name", "function"];
const ARGUMENTS: &[&str] = &[
    "arguments",
    "args",
    "parameters",
    "input",
    "action_input",
    "tool_args",
];

const NEITHER: &str = "there is neither an action nor an answer in this; write `Action:` with the name of a tool and \
     `Action Input:` with its arguments as a JSON object, or `Answer:` with the answer";
const NOT_ALONE: &str = "an object alone is an action only where it stands on lines of its own at the end of the reply, \
     after one line of thought at most; write `Action:` and `Action Input:` instead, or `Answer:` with the answer";
const BOTH: &str = "there are both an answer and an action in this; write one of them alone";
const SEVERAL: &str =
    "there is more than one action in this; write one, and wait for what comes of it";

pub(super) fn parse(text: &str, registry: &Registry) -> Parsed {
    let text = marked(text, OBSERVATION).map_or(text, |mark| &text[..mark.start]);
    let action = marked(text, ACTION);
    let answer = marked(text, ANSWER);
    match (action, answer) {
        (Some(action), Some(answer)) if answer.start < action.start => Parsed {
            thought: thought(&text[..answer.start]),
            step: Step::Unclear(BOTH.to_owned()),
        },
        (Some(action), answer) => {
            // An answer after a call was made up before the call was answered.
            let end = answer.map_or(text.len(), |answer| answer.start);
            let body = &text[action.end..end];
            Parsed {
                thought: thought(&text[..action.start]),
                step: if marked(body.trim_start(), ACTION).is_some() {
                    Step::Unclear(SEVERAL.to_owned())
                } else {
                    call(body.trim(), registry)
                },
            }
        }
        (None, Some(answer)) => Parsed {
            thought: thought(&text[..answer.start]),
            step: Step::Answer(text[answer.end..].trim().to_owned()),
        },
        (None, None) => object(text, registry).unwrap_or_else(|why| Parsed {
            thought: thought(text),
            step: Step::Unclear(why.to_owned()),
        }),
    }
}

#[derive(Clone, Copy)]
struct Mark {
    start: usize,
    end: usize,
}

/// What may stand before a word that begins a part: space of any kind, seen or not, and emphasis. A line that is quoted
/// with `>` says what somebody might write.
fn is_before_mark(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '*' | '#' | '_')
        || matches!(c, '\u{feff}' | '\u{200b}'..='\u{200d}' | '\u{2060}')
}

/// The first line that begins with one of the words, whatever its case and with or without emphasis.
fn marked(text: &str, words: &[&str]) -> Option<Mark> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_start_matches(is_before_mark);
        let found = words.iter().find(|word| {
            bare.get(..word.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(word))
        });
        if let Some(word) = found {
            let rest = &bare[word.len()..];
            let emphasis = rest.len() - rest.trim_start_matches(['*', '_']).len();
            let end = start + (line.len() - bare.len()) + word.len() + emphasis;
            return Some(Mark { start, end });
        }
        start += line.len();
    }
    None
}

fn thought(text: &str) -> String {
    let text = marked(text, THOUGHT).map_or(text, |mark| &text[mark.end..]);
    text.trim().trim_start_matches("```").trim().to_owned()
}

/// A call that is an object without a mark: it ends the reply, and before it is one line at most, or a marked thought.
/// Anywhere else it may be an example, or one of several.
fn object(text: &str, registry: &Registry) -> Result<Parsed, &'static str> {
    let start = text.find('{').ok_or(NEITHER)?;
    let (before, object) = text.split_at(start);
    let alone = before.trim_matches(is_before_mark).is_empty()
        || before.trim_end_matches([' ', '\t']).ends_with('\n');
    let before = before.trim_matches(is_before_mark);
    let before = before
        .strip_suffix("```json")
        .or_else(|| before.strip_suffix("```"))
        .unwrap_or(before)
        .trim();
    let short =
        !before.contains('\n') || marked(before, THOUGHT).is_some_and(|mark| mark.start == 0);
    if !alone || !short || before.contains('[') {
        return Err(NOT_ALONE);
    }
    let (step, after) = from_object(object, registry).ok_or(NOT_ALONE)?;
    if !after.trim().trim_matches('`').is_empty() {
        return Err(NOT_ALONE);
    }
    Ok(Parsed {
        thought: thought(before),
        step,
    })
}

/// The members of an object as they are written, equal ones too.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(Each)
    }
}

impl Members {
    /// The value under one of the keys; `None` also where there are several.
    fn only(&self, keys: &[&str]) -> Option<&RawValue> {
        let mut found = self
            .0
            .iter()
            .filter(|(key, _)| keys.contains(&key.as_str()));
        let (_, value) = found.next()?;
        found.next().is_none().then_some(value)
    }

    fn has(&self, keys: &[&str]) -> bool {
        self.0.iter().any(|(key, _)| keys.contains(&key.as_str()))
    }
}

/// A call that is an object with a name and perhaps arguments, and what stands behind it.
fn from_object<'t>(text: &'t str, registry: &Registry) -> Option<(Step, &'t str)> {
    let mut reader = Reader::new(text);
    reader.value().ok()?;
    let members: Members = serde_json::from_str(&reader.out).ok()?;
    let tool: String = serde_json::from_str(members.only(NAMES)?.get()).ok()?;
    if !is_name(&tool) {
        return Some((Step::Unclear(no_name(&tool)), reader.rest()));
    }
    let arguments = if members.has(ARGUMENTS) {
        let written = members.only(ARGUMENTS)?.get();
        // Arguments as text are decoded once; others stay as they are written.
        serde_json::from_str(written).unwrap_or_else(|_| written.to_owned())
    } else if registry.tool(&tool).is_some() {
        "{}".to_owned()
    } else {
        return None;
    };
    let repairs = std::mem::take(&mut reader.repairs);
    let step = Step::Call {
        tool,
        arguments,
        repairs,
    };
    Some((step, reader.rest()))
}

fn is_name(text: &str) -> bool {
    let belongs = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    !text.is_empty() && text.chars().all(belongs)
}

fn no_name(text: &str) -> String {
    format!(
        "`{}` is no name of a tool; write one of the names of the tools, letter by letter",
        text.escape_debug()
    )
}

/// What stands behind `Action:`.
fn call(text: &str, registry: &Registry) -> Step {
    let text = unfenced(text);
    if text.starts_with('{') {
        return match from_object(text, registry) {
            Some((step, rest)) if !has_value(rest) => step,
            Some(_) => Step::Unclear(SEVERAL.to_owned()),
            None => Step::Unclear(
                "the action is not one object with a `tool` and its `arguments`; give both, once"
                    .to_owned(),
            ),
        };
    }
    let text = text.trim_start_matches(['`', '*', '"']);
    let end = text
        .find(|c: char| c.is_whitespace() || matches!(c, '(' | '{' | '`' | '"' | '\''))
        .unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let name = name.trim_end_matches('*');
    if name.is_empty() {
        return Step::Unclear(
            "there is no name of a tool behind `Action:`; write one of the names of the tools"
                .to_owned(),
        );
    }
    if !is_name(name) {
        return Step::Unclear(no_name(name));
    }
    let rest = rest.trim_start_matches(['`', '*', '"', '\'']);
    let (between, input) = match marked(rest, INPUT) {
        Some(mark) => (&rest[..mark.start], &rest[mark.end..]),
        None => ("", rest),
    };
    let read = if between.trim().is_empty() {
        arguments(name, unfenced(input), registry)
    } else {
        Err("there is something else before them".to_owned())
    };
    read.unwrap_or_else(|why| {
        Step::Unclear(format!(
            "the arguments of `{name}` cannot be read: {why}; write them as one JSON object, whole, and nothing else"
        ))
    })
}

fn unfenced(text: &str) -> &str {
    text.trim_start()
        .trim_start_matches("```json")
        .trim_start_matches("```")
        .trim_start()
}

/// Whether one more value, or the beginning of one, stands behind the arguments.
fn has_value(rest: &str) -> bool {
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '`' | ',' | ';'));
    rest.contains(['{', '[']) || Reader::new(rest).value().is_ok()
}

fn arguments(name: &str, text: &str, registry: &Registry) -> Result<Step, String> {
    let mut reader = Reader::new(text);
    if text.is_empty() {
        reader.out.push_str("{}");
    } else if text.starts_with('{') {
        reader.value().map_err(|why| why.to_string())?;
    } else if reader.eat('(') {
        in_parentheses(name, &mut reader, registry)?;
        if reader.rest().contains('(') {
            return Err(SECOND.to_owned());
        }
    } else {
        return Err("there is no object".to_owned());
    }
    if has_value(reader.rest()) {
        return Err(SECOND.to_owned());
    }
    Ok(Step::Call {
        tool: name.to_owned(),
        arguments: reader.out,
        repairs: reader.repairs,
    })
}

const SECOND: &str = "there is something to read after them";

/// `name(1, "two", three=3)`: what has no name goes to the parameters in the order in which the tool declares them.
fn in_parentheses(name: &str, reader: &mut Reader<'_>, registry: &Registry) -> Result<(), String> {
    let declared: Vec<String> = registry
        .tool(name)
        .and_then(|tool| {
            tool.input_schema()["properties"]
                .as_object()
                .map(|map| map.keys().cloned().collect())
        })
        .unwrap_or_default();
    let mut place = 0;
    reader.out.push('{');
    loop {
        reader.skip_space();
        match reader.peek() {
            None => {
                reader.repaired(Repair::Closed);
                break;
            }
            Some(')') => {
                reader.eat(')');
                break;
            }
            // `name({"a": 1})`: the object is all of the arguments.
            Some('{') if place == 0 && reader.out == "{" => {
                reader.out.clear();
                reader.value().map_err(|why| why.to_string())?;
                reader.skip_space();
                if reader.rest().is_empty() {
                    reader.repaired(Repair::Closed);
                } else if !reader.eat(')') {
                    return Err(SECOND.to_owned());
                }
                return Ok(());
            }
            Some(_) => {}
        }
        if reader.out.len() > 1 {
            reader.out.push(',');
        }
        let end = reader.end_of(|c| c.is_alphanumeric() || c == '_');
        let word = &reader.rest()[..end];
        let after = reader.rest()[end..].trim_start();
        let named = end > 0 && after.starts_with(['=', ':']) && !after.starts_with("==");
        let key = if named {
            reader.take(end);
            reader.skip_space();
            let _ = reader.eat('=') || reader.eat(':');
            word.to_owned()
        } else {
            reader.repaired(Repair::Positional);
            let key = declared.get(place).cloned();
            place += 1;
            key.ok_or_else(|| format!("it takes {} arguments, and there are more", declared.len()))?
        };
        reader.out.push_str(&Value::from(key).to_string());
        reader.out.push(':');
        reader.value_inside().map_err(|why| why.to_string())?;
        reader.skip_space();
        if !reader.eat(',') && !matches!(reader.peek(), Some(')') | None) {
            return Err("there is no comma between two of them".to_owned());
        }
    }
    reader.out.push('}');
    Ok(())
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
