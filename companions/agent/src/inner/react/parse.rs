//! Parses a model's text: a call, an answer, or neither.

use contract_runtime::Registry;
use serde_json::Value;

use super::json_repair::{Reader, Repair, Unclear};
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
        repairs: Vec<Repair>,
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
    let (step, after) = from_object(object, registry).ok_or(NOT_ALONE)?;
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
        return match from_object(text, registry) {
            Some((step, rest)) if is_end(rest, fence) => step,
            Some((_, rest)) if !has_closed_fence(rest, fence) => Step::Unclear(IN_CODE.to_owned()),
            Some((_, rest)) if has_value(rest) => Step::Unclear(SEVERAL.to_owned()),
            Some(_) => Step::Unclear(NOT_LAST.to_owned()),
            None => Step::Unclear(
                "the action is not an object with `tool` and `arguments`; write each of them once"
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
    rest.contains(['{', '[']) || Reader::new(rest).value().is_ok()
}

fn arguments(name: &str, text: &str, fence: usize, registry: &Registry) -> Result<Step, String> {
    let mut reader = Reader::new(text);
    if text.is_empty() {
        return Err("they are missing".to_owned());
    }
    if text.starts_with('{') {
        reader.value().map_err(|why| why.to_string())?;
    } else if reader.eat('(') {
        in_parentheses(name, &mut reader, registry)?;
    } else {
        return Err("they are not a JSON object".to_owned());
    }
    if !is_end(reader.rest(), fence) {
        return if has_closed_fence(reader.rest(), fence) {
            Err(SECOND.to_owned())
        } else {
            Ok(Step::Unclear(IN_CODE.to_owned()))
        };
    }
    Ok(Step::Call {
        tool: name.to_owned(),
        arguments: reader.out,
        repairs: reader.repairs,
    })
}

const SECOND: &str = "text follows them";

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
            // The text is cut: more may have come.
            None => return Err(Unclear::Cut.to_string()),
            Some(')') => {
                reader.eat(')');
                break;
            }
            // `name({"a": 1})`: the object is all of the arguments.
            Some('{') if place == 0 && reader.out == "{" => {
                reader.out.clear();
                reader.value().map_err(|why| why.to_string())?;
                reader.skip_space();
                return match reader.eat(')') {
                    true => Ok(()),
                    false if reader.rest().is_empty() => Err(Unclear::Cut.to_string()),
                    false => Err(SECOND.to_owned()),
                };
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
            key.ok_or_else(|| format!("the tool takes only {} arguments", declared.len()))?
        };
        reader.out.push_str(&Value::from(key).to_string());
        reader.out.push(':');
        reader.value_inside().map_err(|why| why.to_string())?;
        reader.skip_space();
        if !reader.eat(',') && !matches!(reader.peek(), Some(')') | None) {
            return Err("a comma is missing between two of them".to_owned());
        }
    }
    reader.out.push('}');
    Ok(())
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
