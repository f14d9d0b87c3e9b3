//! Parses a model's text: a call, an answer, or neither.

use contract_runtime::Registry;
use serde::Deserialize as _;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::marks::{
    ACTION, ANSWER, FENCES, INPUT, OBSERVATION, THOUGHT, has_code, has_stray_fence, is_before_mark,
    is_marked_in_code, marked, split,
};
use super::object::{from_object, is_name, no_name};

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
    },
    Answer(String),
    /// Neither; what to tell the model.
    Unclear(String),
}

const NEITHER: &str = "your reply has neither an action nor an answer; write `Action:` with the name of a tool and \
     `Action Input:` with its arguments as a JSON object, or `Answer:` with your answer";
const NO_ANSWER: &str = "your reply has no answer; write `Answer:` with your answer";
const NOT_ALONE: &str = "a JSON object is an action only if nothing but a `Thought:` precedes it and nothing follows it; \
     write `Action:` and `Action Input:` instead, or `Answer:` with your answer";
const IN_CODE: &str = "text in a code fence is not executed; write `Action:` and `Action Input:` without a fence, \
     or `Answer:` with your answer";
const THINKS: &str = "your thinking is not closed, or is closed after an answer; close it first, then write \
     `Action:` and `Action Input:`, or `Answer:` with your answer";
const PREFACED: &str = "text other than a thought precedes the action; begin with `Thought:` or `Action:`, \
     or write `Answer:` with your answer";
const BOTH: &str = "your reply has both an answer and an action; write only one of them";
const NO_OBJECT: &str =
    "the action is not valid JSON; write one complete object with `tool` and `arguments`";
const SEVERAL: &str = "your reply has more than one action; write one, and wait for its result";
const NOT_LAST: &str = "text follows the action; end your reply with the action";

/// Reads a reply by one rule: it is a thought, or none, and then an action that ends it; or it gives an answer. What the model
/// thinks between tags, and what stands in a code fence, is neither.
pub(super) fn parse(reply: &str, registry: &Registry) -> Parsed {
    let Some(parts) = split(reply) else {
        return Parsed {
            thought: thought(reply),
            step: Step::Unclear(THINKS.to_owned()),
        };
    };
    let Parsed { thought, step } = parse_parts(&parts.text, registry);
    let thinking = parts.thinking.trim();
    Parsed {
        thought: match (thinking, thought.as_str()) {
            ("", _) => thought,
            (_, "") => thinking.to_owned(),
            _ => format!("{thinking}\n{thought}"),
        },
        step,
    }
}

fn parse_parts(text: &str, registry: &Registry) -> Parsed {
    let text = marked(text, OBSERVATION).map_or(text, |mark| &text[..mark.start]);
    let unclear = |until: usize, why: &str| Parsed {
        thought: thought(&text[..until]),
        step: Step::Unclear(why.to_owned()),
    };
    match (marked(text, ACTION), marked(text, ANSWER)) {
        (Some(action), Some(answer)) => unclear(action.start.min(answer.start), BOTH),
        (Some(action), None) => {
            let (before, body) = (&text[..action.start], &text[action.end..]);
            if !is_thought(before) {
                return unclear(action.start, PREFACED);
            }
            if has_stray_fence(before) {
                return unclear(action.start, IN_CODE);
            }
            if marked(body.trim_start(), ACTION).is_some() {
                return unclear(action.start, SEVERAL);
            }
            Parsed {
                thought: thought(before),
                step: call(body.trim(), registry),
            }
        }
        (None, Some(answer)) => Parsed {
            thought: thought(&text[..answer.start]),
            step: Step::Answer(text[answer.end..].trim().to_owned()),
        },
        (None, None) => object(text, registry).unwrap_or_else(|why| unclear(text.len(), why)),
    }
}

/// Whether there is nothing in it, or what is marked as a thought.
fn is_thought(text: &str) -> bool {
    let bare = text.trim_matches(is_before_mark);
    bare.is_empty() || marked(bare, THOUGHT).is_some_and(|mark| mark.start == 0)
}

fn thought(text: &str) -> String {
    let text = marked(text, THOUGHT).map_or(text, |mark| &text[mark.end..]);
    text.trim().trim_start_matches("```").trim().to_owned()
}

/// A call that is an object without a mark, with nothing around it but a thought. Anywhere else it may be an example, or one
/// of several.
fn object(text: &str, registry: &Registry) -> Result<Parsed, &'static str> {
    if registry.tools().len() == 0 {
        return Err(NO_ANSWER);
    }
    if is_marked_in_code(text, ACTION) {
        return Err(IN_CODE);
    }
    let start = text.find('{').ok_or(NEITHER)?;
    if has_code(text) {
        return Err(IN_CODE);
    }
    let (before, object) = text.split_at(start);
    if has_stray_fence(before) {
        return Err(IN_CODE);
    }
    let alone = before.trim_matches(is_before_mark).is_empty()
        || before.trim_end_matches([' ', '\t']).ends_with('\n');
    if !alone || !is_thought(before) || before.contains('[') {
        return Err(NOT_ALONE);
    }
    let (step, after) = from_object(object).ok_or(NOT_ALONE)?;
    if !after.trim().is_empty() {
        return Err(NOT_ALONE);
    }
    Ok(Parsed {
        thought: thought(before),
        step,
    })
}

/// Reads the text after `Action:`.
fn call(body: &str, registry: &Registry) -> Step {
    let text = unfenced(body);
    if text.starts_with('{') {
        let Some(fence) = fence_before(text, body) else {
            return Step::Unclear(IN_CODE.to_owned());
        };
        return match from_object(text) {
            Some((step, rest)) if is_end(rest, fence) => step,
            Some((_, rest)) if !has_closed_fence(rest, fence) => Step::Unclear(IN_CODE.to_owned()),
            Some((_, rest)) if has_value(rest) => Step::Unclear(SEVERAL.to_owned()),
            Some(_) => Step::Unclear(NOT_LAST.to_owned()),
            None => Step::Unclear(NO_OBJECT.to_owned()),
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
            "no tool name follows `Action:`; write the name of one of the tools".to_owned(),
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
    let input = unfenced(input);
    let Some(fence) = fence_before(input, body) else {
        return Step::Unclear(IN_CODE.to_owned());
    };
    let read = if between.trim().is_empty() {
        arguments(name, input, fence, registry)
    } else {
        Err("other text precedes them".to_owned())
    };
    read.unwrap_or_else(|why| {
        Step::Unclear(format!(
            "the arguments of `{name}` cannot be read: {why}; write them as one complete JSON object and nothing else"
        ))
    })
}

fn unfenced(text: &str) -> &str {
    text.trim_start()
        .trim_start_matches("```json")
        .trim_start_matches("```")
        .trim_start()
}

/// The length of the fence directly before the arguments that end a body, 0 where there is none; `None` where a fence stands
/// anywhere else before them.
fn fence_before(arguments: &str, body: &str) -> Option<usize> {
    let head = &body[..body.len() - arguments.len()];
    let Some(start) = FENCES.iter().filter_map(|fence| head.find(fence)).min() else {
        return Some(0);
    };
    let (fence, kind) = head[start..].split_at(length_of_fence(&head[start..]));
    matches!(kind.trim(), "" | "json").then_some(fence.len())
}

fn length_of_fence(text: &str) -> usize {
    text.len() - text.trim_start_matches('`').len()
}

/// Whether nothing is to be read behind a call: the end of its own fence, of its tag or of its emphasis at most.
fn is_end(rest: &str, fence: usize) -> bool {
    let rest = rest.trim();
    let rest = rest.strip_suffix("</tool_call>").unwrap_or(rest);
    let rest = rest.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_'));
    let length = length_of_fence(rest);
    // Fewer than three are code within a line.
    length == rest.len() && (length == fence || (fence == 0 && length < 3))
}

/// Returns whether the fences after a call are those that belong to it.
fn has_closed_fence(rest: &str, fence: usize) -> bool {
    let fences: usize = FENCES.iter().map(|of| rest.matches(of).count()).sum();
    fences == usize::from(fence > 0)
}

/// Returns whether another value, or the beginning of one, follows the arguments.
fn has_value(rest: &str) -> bool {
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '`' | ',' | ';'));
    rest.contains(['{', '[']) || value(rest).is_ok()
}

/// Returns the JSON value that a text begins with, as it is written, and the text after it.
pub(super) fn value(text: &str) -> Result<(&str, &str), String> {
    let mut json = serde_json::Deserializer::from_str(text);
    match IgnoredAny::deserialize(&mut json) {
        Ok(_) => Ok(text.split_at(json.into_iter::<IgnoredAny>().byte_offset())),
        Err(error) if error.is_eof() => Err(CUT.to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

const CUT: &str = "they are incomplete";
const SECOND: &str = "text follows them";

fn arguments(name: &str, text: &str, fence: usize, registry: &Registry) -> Result<Step, String> {
    let (arguments, rest) = if text.is_empty() {
        return Err("they are missing".to_owned());
    } else if text.starts_with('{') {
        value(text).map(|(object, rest)| (object.to_owned(), rest))?
    } else if let Some(inner) = text.strip_prefix('(') {
        in_parentheses(name, inner, registry)?
    } else {
        return Err("they are not a JSON object".to_owned());
    };
    if !is_end(rest, fence) {
        return if has_closed_fence(rest, fence) {
            Err(SECOND.to_owned())
        } else {
            Ok(Step::Unclear(IN_CODE.to_owned()))
        };
    }
    Ok(Step::Call {
        tool: name.to_owned(),
        arguments,
    })
}

/// Reads `name(1, "two", three=3)` from behind its parenthesis, and returns the arguments as an object and the text after them.
/// Values without names go to the parameters in the order in which the tool declares them.
fn in_parentheses<'t>(
    name: &str,
    text: &'t str,
    registry: &Registry,
) -> Result<(String, &'t str), String> {
    let mut rest = text.trim_start();
    // `name({"a": 1})`: the object is all of the arguments.
    if rest.starts_with('{') {
        let (object, rest) = value(rest)?;
        return match rest.trim_start().strip_prefix(')') {
            Some(rest) => Ok((object.to_owned(), rest)),
            None if rest.trim().is_empty() => Err(CUT.to_owned()),
            None => Err(SECOND.to_owned()),
        };
    }
    let tool = registry.tool(name);
    let declared = tool.and_then(|tool| tool.input_schema()["properties"].as_object());
    let mut declared = declared.into_iter().flat_map(serde_json::Map::keys);
    let mut members = Vec::new();
    loop {
        if let Some(after) = rest.strip_prefix(')') {
            return Ok((format!("{{{}}}", members.join(",")), after));
        }
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        let named = after.trim_start().strip_prefix(['=', ':']);
        let (key, written) = match named.filter(|after| !word.is_empty() && !after.starts_with('='))
        {
            Some(written) => (word, written.trim_start()),
            None if rest.is_empty() => return Err(CUT.to_owned()),
            None => {
                let key = declared.next();
                let key = key.ok_or("the tool takes fewer arguments without names")?;
                (key.as_str(), rest)
            }
        };
        let (value, after) = literal(written)?;
        members.push(format!("{}:{value}", Value::from(key)));
        rest = after.trim_start();
        match rest.strip_prefix(',') {
            Some(more) => rest = more.trim_start(),
            None if rest.is_empty() => return Err(CUT.to_owned()),
            None if rest.starts_with(')') => {}
            None => return Err("a comma is missing between two of them".to_owned()),
        }
    }
}

/// A value of a call that is written as in Python: JSON, a text in single quotes without an escape, or a word.
fn literal(text: &str) -> Result<(String, &str), String> {
    if let Some(quoted) = text.strip_prefix('\'') {
        let (inner, rest) = quoted.split_once('\'').ok_or(CUT)?;
        if inner.contains('\\') {
            return Err("a text in single quotes has an escape".to_owned());
        }
        return Ok((Value::from(inner).to_string(), rest));
    }
    for (word, json) in [("True", "true"), ("False", "false"), ("None", "null")] {
        if let Some(rest) = text.strip_prefix(word) {
            return Ok((json.to_owned(), rest));
        }
    }
    value(text).map(|(value, rest)| (value.to_owned(), rest))
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
