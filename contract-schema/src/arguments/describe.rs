//! The words of a refusal: what was given, and what a rule accepts.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde::de::IgnoredAny;
use serde_json::Value;

use super::problem::{ArgumentProblem, InvalidArguments};
use crate::lexer::Lexer;
use crate::normalize::unescape;
use crate::{InputSchema, Limit, NumberRule, Rule, RuleId, Rules, TextRule, Types, compile};

/// The most characters of one value.
const LONGEST_VALUE: usize = 60;

/// The most characters of one description.
const LONGEST: usize = 240;

/// The most values that are listed; the rest is counted.
const LISTED: usize = 12;

/// How deeply nested rules are described. Deeper values have problems of their own.
const DEEPEST: usize = 3;

/// Returns the first `limit` characters of `text`.
pub fn clip(text: &str, limit: usize) -> Cow<'_, str> {
    if text.char_indices().nth(limit).is_none() {
        return Cow::Borrowed(text);
    }
    let kept: String = text.chars().take(limit.saturating_sub(1)).collect();
    Cow::Owned(kept + "…")
}

/// Escapes the characters of a text that move the cursor, hide or reorder others.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            _ if unsafe_to_show(character) => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(character));
            }
            _ => out.push(character),
        }
    }
    out
}

/// Whether a character is unsafe to show: control, zero-width and direction characters, and letters without a shape (Unicode,
/// "Default ignorable", UAX 9 section 2).
#[must_use]
pub fn unsafe_to_show(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
                | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Returns `text` in quotes, escaped and cut.
pub(super) fn quoted(text: &str) -> String {
    let start: String = text.chars().take(LONGEST_VALUE + 1).collect();
    let safe = escaped(&start.replace('\\', "\\\\").replace('"', "\\\""));
    format!("\"{}\"", clip(&safe, LONGEST_VALUE))
}

/// Describes the value that begins at `at`.
pub(super) fn given(lexer: Lexer<'_>, at: usize, secret: bool) -> String {
    let rest = lexer.rest(at);
    match lexer.byte(at) {
        b'n' => "null".to_owned(),
        b't' | b'f' if secret => "a boolean (not shown)".to_owned(),
        b'"' if secret => "a string (not shown)".to_owned(),
        b'[' if secret => "an array (not shown)".to_owned(),
        b'{' if secret => "an object (not shown)".to_owned(),
        b't' => "true".to_owned(),
        b'f' => "false".to_owned(),
        b'"' => {
            let text = lexer.string(at).and_then(|string| string.text());
            format!("the string {}", quoted(&text.unwrap_or_default()))
        }
        b'[' => {
            let mut values =
                serde_json::Deserializer::from_str(rest).into_iter::<Vec<IgnoredAny>>();
            match values
                .next()
                .and_then(Result::ok)
                .map_or(0, |items| items.len())
            {
                0 => "an empty array".to_owned(),
                1 => "an array of 1 item".to_owned(),
                count => format!("an array of {count} items"),
            }
        }
        b'{' if lexer.first(at, b'}').is_break() => "an empty object".to_owned(),
        b'{' => "an object".to_owned(),
        _ if secret => "a number (not shown)".to_owned(),
        _ => {
            let number = lexer.number(at).map(|(number, _)| number.shown());
            format!(
                "the number {}",
                clip(&number.unwrap_or_default(), LONGEST_VALUE)
            )
        }
    }
}

/// Describes what the rule accepts, as a noun with its limits: `an integer from 0 to 255`.
pub(super) fn describe(rules: &Rules, id: RuleId) -> String {
    clip(
        &rule(rules, id, 0).unwrap_or_else(|| "any value".to_owned()),
        LONGEST,
    )
    .into_owned()
}

/// `one of "a", "b"`, or the only value.
pub(super) fn one_of(values: &[String]) -> String {
    if let [only] = values {
        return only.clone();
    }
    let shown = values
        .iter()
        .take(LISTED)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    match values.len().saturating_sub(LISTED) {
        0 => format!("one of {shown}"),
        more => format!("one of {shown} and {more} more"),
    }
}

fn rule(rules: &Rules, id: RuleId, depth: usize) -> Option<String> {
    let one = &rules[id];
    if one.is_never() {
        return Some("nothing".to_owned());
    }
    if let Some(values) = &one.values {
        let values: Vec<_> = values.iter().map(value).collect();
        return Some(one_of(&values));
    }
    if one.types != Types::ALL {
        return Some(types(rules, one, depth) + &besides(rules, one, depth));
    }
    if depth >= DEEPEST {
        return None;
    }
    let Some(inner) = &one.combination else {
        return untyped(rules, one, depth);
    };
    let alternatives = if inner.any.is_empty() {
        &inner.one
    } else {
        &inner.any
    };
    if alternatives.is_empty() {
        if inner.reference.is_none() && inner.all.is_empty() {
            let all = untyped(rules, one, depth);
            return all.map(|all| all + &besides(rules, one, depth));
        }
        return inner
            .reference
            .iter()
            .chain(&inner.all)
            .find_map(|id| rule(rules, *id, depth + 1))
            .or_else(|| untyped(rules, one, depth));
    }
    let texts: Option<Vec<_>> = alternatives
        .iter()
        .map(|id| rule(rules, *id, depth + 1))
        .collect();
    texts.map(merged)
}

/// Joins descriptions of alternatives without repetitions; fixed values are gathered in one list.
fn merged(texts: Vec<String>) -> String {
    let (mut fixed, mut others) = (Vec::new(), Vec::<String>::new());
    for text in texts {
        if text.starts_with('"') {
            fixed.push(text);
        } else if !others.contains(&text) {
            others.push(text);
        }
    }
    if !fixed.is_empty() {
        others.insert(0, one_of(&fixed));
    }
    // `null` reads best at the end.
    others.sort_by_key(|text| text == "null");
    others.join(" or ")
}

fn value(value: &Value) -> String {
    clip(&escaped(&value.to_string()), 60).into_owned()
}

fn types(rules: &Rules, rule: &Rule, depth: usize) -> String {
    let mut nouns = Vec::new();
    if rule.types.has(Types::BOOLEAN) {
        nouns.push("true or false".to_owned());
    }
    if rule.types.has(Types::NUMBER) {
        nouns.push(number("a number", rule.number.as_deref()));
    } else if rule.types.has(Types::INTEGER) {
        nouns.push(number("an integer", rule.number.as_deref()));
    }
    if rule.types.has(Types::STRING) {
        nouns.push(text(rule.text.as_deref()));
    }
    if rule.types.has(Types::ARRAY) {
        nouns.push(array(rules, rule, depth));
    }
    if rule.types.has(Types::OBJECT) {
        nouns.push(object(rule));
    }
    if rule.types.has(Types::NULL) {
        nouns.push("null".to_owned());
    }
    nouns.join(" or ")
}

/// Describes what the keywords that combine schemas add to a type.
fn besides(rules: &Rules, one: &Rule, depth: usize) -> String {
    let Some(inner) = one.combination.as_ref().filter(|_| depth < DEEPEST) else {
        return String::new();
    };
    let of = |id: &RuleId| rule(rules, *id, depth + 1);
    let mut text = String::new();
    for part in inner.all.iter().filter_map(of) {
        text.extend([", and ", &part]);
    }
    let any: Option<Vec<_>> = inner.any.iter().map(of).collect();
    if let Some([first, others @ ..]) = any.as_deref() {
        text.extend([", and at least one of: ", first]);
        for other in others {
            text.extend(["; ", other]);
        }
    }
    if let Some(not) = inner.not.as_ref().and_then(of) {
        text.extend([", but not ", &not]);
    }
    text
}

fn untyped(rules: &Rules, rule: &Rule, depth: usize) -> Option<String> {
    if rule.array.is_some() {
        return Some(array(rules, rule, depth));
    }
    if rule.number.is_some() {
        return Some(number("a number", rule.number.as_deref()));
    }
    if rule.text.is_some() {
        return Some(text(rule.text.as_deref()));
    }
    rule.object.is_some().then(|| object(rule))
}

fn number(noun: &str, rule: Option<&NumberRule>) -> String {
    let Some(rule) = rule else {
        return noun.to_owned();
    };
    let shown = |limit: &Limit| limit.written.to_string();
    let low = match (&rule.minimum, &rule.above) {
        (Some(minimum), Some(above)) if minimum.exact > above.exact => Some((true, minimum)),
        (_, Some(above)) => Some((false, above)),
        (minimum, None) => minimum.as_ref().map(|limit| (true, limit)),
    };
    let high = match (&rule.maximum, &rule.below) {
        (Some(maximum), Some(below)) if maximum.exact < below.exact => Some((true, maximum)),
        (_, Some(below)) => Some((false, below)),
        (maximum, None) => maximum.as_ref().map(|limit| (true, limit)),
    };
    // The digits of these bounds mean nothing to a model.
    let is_wide = |limit: &Limit| {
        let integer = &limit.written;
        [Some(i64::MIN), Some(i64::MAX)].contains(&integer.as_i64())
            || integer.as_u64() == Some(u64::MAX)
    };
    let is_narrow = |end: &(bool, &Limit)| !(end.0 && is_wide(end.1));
    let noun = match (noun, high) {
        ("an integer", Some(end)) if !is_narrow(&end) => "a 64-bit integer",
        _ => noun,
    };
    let (low, high) = (low.filter(is_narrow), high.filter(is_narrow));
    let least = |(inclusive, limit): (bool, &Limit)| {
        let word = if inclusive { "of at least" } else { "above" };
        format!("{word} {}", shown(limit))
    };
    let most = |(inclusive, limit): (bool, &Limit)| {
        let word = if inclusive { "of at most" } else { "below" };
        format!("{word} {}", shown(limit))
    };
    let range = match (low, high) {
        (None, None) => String::new(),
        (Some((true, low)), Some((true, high))) => {
            format!(" from {} to {}", shown(low), shown(high))
        }
        (Some(low), Some(high)) => format!(" {} and {}", least(low), most(high)),
        (Some(low), None) => format!(" {}", least(low)),
        (None, Some(high)) => format!(" {}", most(high)),
    };
    let step = rule.multiple_of.as_ref();
    let step = step.map_or_else(String::new, |step| {
        format!(" that is a multiple of {}", shown(step))
    });
    format!("{noun}{range}{step}")
}

fn text(rule: Option<&TextRule>) -> String {
    let Some(rule) = rule else {
        return "a string".to_owned();
    };
    let length = count(rule.min, rule.max, "character");
    let pattern = rule.pattern.as_ref().map_or_else(String::new, |pattern| {
        format!(
            " matching the pattern `{}`",
            clip(&escaped(pattern.as_str()), 120)
        )
    });
    let noun = rule.format.map_or("a string", |format| format.described);
    format!("{noun}{length}{pattern}")
}

fn array(rules: &Rules, one: &Rule, depth: usize) -> String {
    let Some(array) = &one.array else {
        return "an array".to_owned();
    };
    let length = count(array.min, array.max, "item");
    let items = array
        .items
        .filter(|_| array.prefix.is_empty() && depth < DEEPEST);
    let each = items.and_then(|id| rule(rules, id, depth + 1));
    let of = if length.is_empty() { " item" } else { "" };
    let each = each.map_or_else(String::new, |each| format!(", each{of} {each}"));
    let held = array.contains.filter(|_| depth < DEEPEST);
    let held = held.and_then(|id| rule(rules, id, depth + 1));
    let held = held.map_or_else(String::new, |held| {
        let least = array.min_contains.unwrap_or(1);
        let most = array.max_contains;
        let most = most.map_or_else(String::new, |most| format!(" and at most {most}"));
        format!(", with {least} or more{most} of: {held}")
    });
    format!("an array{length}{each}{held}")
}

fn object(rule: &Rule) -> String {
    let keys = rule.object.as_ref();
    let length = keys.map_or_else(String::new, |keys| count(keys.min, keys.max, "key"));
    let required = keys
        .map(|keys| keys.required.as_slice())
        .unwrap_or_default();
    let named: Vec<_> = required
        .iter()
        .take(LISTED)
        .map(|name| format!("`{}`", clip(&escaped(name), 60)))
        .collect();
    match named.len() {
        0 => format!("an object{length}"),
        _ if !length.is_empty() => format!("an object{length}, {} among them", named.join(", ")),
        _ => format!("an object with {}", named.join(", ")),
    }
}

fn count(min: Option<usize>, max: Option<usize>, unit: &str) -> String {
    let units = |count: usize| {
        if count == 1 {
            unit.to_owned()
        } else {
            format!("{unit}s")
        }
    };
    match (min.filter(|min| *min > 0), max) {
        (None, None) => String::new(),
        (Some(min), Some(max)) if min == max => format!(" of {min} {}", units(min)),
        (Some(min), Some(max)) => format!(" of {min} to {max} {}", units(max)),
        (Some(min), None) => format!(" of at least {min} {}", units(min)),
        (None, Some(max)) => format!(" of at most {max} {}", units(max)),
    }
}

/// The published schema of the arguments. It is not used to judge them: a refusal names its bounds.
#[derive(Debug)]
pub struct Bounds {
    rules: Rules,
    root: RuleId,
}

impl Bounds {
    /// `None` if it is not a schema that can be read.
    pub fn new(published: &Value) -> Option<Self> {
        let (rules, root) = compile(published, false).ok()?;
        Some(Self { rules, root })
    }

    /// Describes, for each value that was refused, what the published schema accepts in its place.
    pub fn name(&self, types: &InputSchema, invalid: &mut InvalidArguments) {
        for problem in invalid.problems_mut() {
            self.name_one(types, problem);
        }
    }

    fn name_one(&self, types: &InputSchema, problem: &mut ArgumentProblem) {
        let of_type = at(types.rules(), types.root(), &problem.pointer);
        // A description of a part, or of several forms together, has no bounds.
        if of_type.is_none_or(|id| describe(types.rules(), id) != problem.expected) {
            return;
        }
        let published = at(&self.rules, self.root, &problem.pointer);
        let Some(id) = published.filter(|id| !self.rules[*id].is_never()) else {
            return;
        };
        problem.expected = describe(&self.rules, id);
        if let Some(values) = &self.rules[id].values {
            problem.allowed.retain(|value| values.contains(value));
            let is_accepted = |name: &String| {
                values
                    .iter()
                    .any(|value| value.as_str() == Some(name.as_str()))
            };
            problem.nearest = problem.nearest.take().filter(is_accepted);
        }
    }
}

/// Returns the rule of the value at a JSON pointer.
fn at(rules: &Rules, root: RuleId, pointer: &str) -> Option<RuleId> {
    let mut steps = pointer.split('/').skip(1);
    steps.try_fold(root, |id, step| below(rules, id, &unescape(step)))
}

fn below(rules: &Rules, id: RuleId, step: &str) -> Option<RuleId> {
    let rule = &rules[id];
    let property = rule
        .object
        .as_ref()
        .and_then(|object| object.property(step));
    let item = || {
        let (array, index) = (rule.array.as_ref()?, step.parse::<usize>().ok()?);
        array.prefix.get(index).copied().or(array.items)
    };
    // References cannot form a circle: a schema with one is refused.
    let referred = || below(rules, rule.combination.as_ref()?.reference?, step);
    property.or_else(item).or_else(referred)
}
