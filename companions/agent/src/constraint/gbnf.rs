//! Renders the shape of values as GBNF, the form of llama.cpp (`grammars/README.md` there).
//!
//! A grammar has the types, the properties in their order, the listed values and the lengths. Bounds of numbers, patterns and
//! combinations of schemas are left to the call, which judges every value.

use std::fmt::Write as _;

use contract_runtime::__family::percent_decode;
use serde_json::{Map, Value};

pub(super) type Keywords = Map<String, Value>;

pub(super) const DEFINITIONS: &str = "$defs";

/// The most repetitions of one symbol: llama.cpp unrolls them, and refuses more.
const REPETITIONS: u64 = 1_999;

/// Rules that every grammar has.
///
/// An escape is a whole character (RFC 8259, section 7), so that the text can be read.
const COMMON: &str = r#"value ::= object | array | string | number | boolean | null
object ::= "{" ws (pair ("," ws pair)*)? "}" ws
pair ::= string ":" ws value
array ::= "[" ws (value ("," ws value)*)? "]" ws
string ::= "\"" char* "\"" ws
char ::= [^"\\\x00-\x1F] | "\\" (["\\/bfnrt] | "u" escape)
escape ::= [0-9A-Ca-cE-Fe-f] hex hex hex | [Dd] [0-7] hex hex | [Dd] [89ABab] hex hex "\\u" [Dd] [C-Fc-f] hex hex
hex ::= [0-9A-Fa-f]
number ::= "-"? whole ("." [0-9]{1,40})? ([Ee] [-+]? [0-9]{1,2})? ws
integer ::= "-"? whole ws
whole ::= "0" | [1-9] [0-9]{0,39}
boolean ::= ("true" | "false") ws
null ::= "null" ws
ws ::= [ \t\n\r]{0,64}
"#;

/// What a grammar says of the values of one schema: one of its keywords, or its types. Any of them alone accepts all values
/// that the whole schema accepts.
pub(super) enum Shape<'a> {
    Anything,
    Values(Vec<&'a Value>),
    Reference(&'a str),
    Branches(&'static str, &'a [Value]),
    Types(Vec<&'a str>),
}

impl<'a> Shape<'a> {
    pub(super) fn of(keywords: &'a Keywords) -> Self {
        let types: Vec<&str> = match keywords.get("type") {
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let values = match (keywords.get("const"), keywords.get("enum")) {
            (Some(only), _) => vec![only],
            (None, Some(Value::Array(values))) => values.iter().collect(),
            _ => Vec::new(),
        };
        let fits = |value: &&Value| types.is_empty() || types.iter().any(|name| is(value, name));
        let values: Vec<&Value> = values.into_iter().filter(fits).collect();
        if !values.is_empty() {
            return Self::Values(values);
        }
        if !types.is_empty() {
            return Self::Types(types);
        }
        let mut others = keywords.keys().filter(|keyword| adds_properties(keyword));
        match (others.next().map(String::as_str), others.next()) {
            (Some("$ref"), None) => keywords
                .get("$ref")
                .and_then(Value::as_str)
                .map_or(Self::Anything, Self::Reference),
            (Some(only), None) => {
                let branches = keywords.get(only).and_then(Value::as_array);
                match (only, branches.map(Vec::as_slice)) {
                    ("anyOf", Some(branches)) => Self::Branches("anyOf", branches),
                    ("oneOf", Some(branches)) => Self::Branches("oneOf", branches),
                    ("allOf", Some(branches @ [_])) => Self::Branches("allOf", branches),
                    _ => Self::Anything,
                }
            }
            _ => Self::Anything,
        }
    }

    /// Whether the grammar says all that a keyword of the schema says.
    pub(super) fn expresses(&self, keywords: &Keywords, keyword: &str) -> bool {
        match self {
            Self::Anything => false,
            Self::Values(_) => {
                let by = if keywords.contains_key("const") {
                    "const"
                } else {
                    "enum"
                };
                keyword == by || keyword == "type"
            }
            Self::Reference(_) => keyword == "$ref",
            Self::Branches(by, _) => keyword == *by,
            Self::Types(_) => match keyword {
                "type" | "items" | "prefixItems" => true,
                "minItems" | "maxItems" | "minLength" | "maxLength" => {
                    count(keywords, keyword).is_some_and(|count| count <= REPETITIONS)
                }
                "properties" | "required" | "additionalProperties" => names_all(keywords),
                _ => false,
            },
        }
    }
}

fn is(value: &Value, name: &str) -> bool {
    match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::Number(number) => {
            name == "number" || (name == "integer" && number.as_f64().is_some_and(is_whole))
        }
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
    }
}

fn is_whole(number: f64) -> bool {
    number.fract() == 0.0
}

/// Whether a keyword may ask for properties, beside those that a schema names.
fn adds_properties(keyword: &str) -> bool {
    matches!(
        keyword,
        "$ref"
            | "allOf"
            | "anyOf"
            | "oneOf"
            | "if"
            | "then"
            | "else"
            | "properties"
            | "required"
            | "patternProperties"
            | "additionalProperties"
            | "dependentSchemas"
            | "dependentRequired"
    )
}

/// Whether the properties of an object are those that its schema names: a call ignores the others.
fn names_all(keywords: &Keywords) -> bool {
    let closed = keywords.get("additionalProperties") == Some(&Value::Bool(false))
        && !keywords.contains_key("patternProperties");
    let own = ["properties", "required", "additionalProperties"];
    let mut others = keywords.keys().filter(|one| adds_properties(one));
    closed || others.all(|one| own.contains(&one.as_str()))
}

fn count(keywords: &Keywords, keyword: &str) -> Option<u64> {
    keywords.get(keyword)?.as_u64()
}

/// Renders the grammar of a schema.
pub(super) fn write(schema: &Value) -> String {
    let mut printer = Printer {
        references: Vec::new(),
        rules: Vec::new(),
    };
    let start = printer.value(schema);
    let mut out = format!("root ::= ws {start}\n");
    let mut next = 0;
    while let Some(target) = printer.references.get(next).copied() {
        let schema = target
            .strip_prefix('#')
            .and_then(percent_decode)
            .and_then(|pointer| schema.pointer(&pointer));
        let body = schema.map_or_else(|| "value".to_owned(), |schema| printer.value(schema));
        let _ = writeln!(out, "ref-{next} ::= {body}");
        next += 1;
    }
    for (index, body) in printer.rules.iter().enumerate() {
        let _ = writeln!(out, "part-{index} ::= {body}");
    }
    out.push_str(COMMON);
    out
}

struct Printer<'a> {
    /// The targets of references, each a rule.
    references: Vec<&'a str>,
    /// What stands in several places.
    rules: Vec<String>,
}

impl<'a> Printer<'a> {
    /// The values of a schema as one symbol, or several in parentheses.
    fn value(&mut self, schema: &'a Value) -> String {
        let Value::Object(keywords) = schema else {
            return "value".to_owned();
        };
        match Shape::of(keywords) {
            Shape::Anything => "value".to_owned(),
            Shape::Values(values) => either(values.iter().map(|value| word(&value.to_string()))),
            Shape::Reference(target) => {
                let known = self.references.iter().position(|one| *one == target);
                let place = known.unwrap_or_else(|| {
                    self.references.push(target);
                    self.references.len() - 1
                });
                format!("ref-{place}")
            }
            Shape::Branches(_, branches) => {
                let some = branches.iter().filter(|branch| **branch != false);
                either(some.map(|branch| self.value(branch)))
            }
            Shape::Types(types) => {
                let number = types.contains(&"number");
                let types = types.iter().filter(|name| !number || **name != "integer");
                either(types.map(|name| match *name {
                    "string" => string(keywords),
                    "array" => self.array(keywords),
                    "object" => self.object(keywords),
                    name @ ("integer" | "number" | "boolean" | "null") => name.to_owned(),
                    _ => "value".to_owned(),
                }))
            }
        }
    }

    /// A rule for what stands in several places.
    fn part(&mut self, body: String) -> String {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        if body.chars().all(plain) {
            return body;
        }
        let known = self.rules.iter().position(|one| *one == body);
        let place = known.unwrap_or_else(|| {
            self.rules.push(body);
            self.rules.len() - 1
        });
        format!("part-{place}")
    }

    fn array(&mut self, keywords: &'a Keywords) -> String {
        let min = count(keywords, "minItems").unwrap_or(0);
        let mut max = count(keywords, "maxItems");
        let firsts = match keywords.get("prefixItems") {
            Some(Value::Array(schemas)) => schemas.as_slice(),
            _ => &[],
        };
        let firsts_count = firsts.len() as u64;
        let rest = match keywords.get("items") {
            Some(Value::Bool(false)) => {
                max = Some(max.map_or(firsts_count, |max| max.min(firsts_count)));
                String::new()
            }
            Some(schema) => {
                let item = self.value(schema);
                self.part(item)
            }
            None => "value".to_owned(),
        };
        let mut items = String::new();
        if max.is_none_or(|max| max > firsts_count) {
            let (min, max) = (
                min.saturating_sub(firsts_count),
                max.map(|max| max - firsts_count),
            );
            items = if firsts.is_empty() {
                let more = times(min.saturating_sub(1), max.map(|max| max - 1));
                let some = format!("{rest} (\",\" ws {rest}){more}");
                if min == 0 { format!("({some})?") } else { some }
            } else {
                format!("(\",\" ws {rest}){}", times(min, max))
            };
        }
        for (index, schema) in firsts.iter().enumerate().rev() {
            let index = index as u64;
            if max.is_some_and(|max| index >= max) {
                continue;
            }
            let comma = if index == 0 { "" } else { "\",\" ws " };
            items = format!("{comma}{} {items}", self.value(schema));
            items.truncate(items.trim_end().len());
            if index >= min {
                items = format!("({items})?");
            }
        }
        enclosed("[", &items, "]")
    }

    fn object(&mut self, keywords: &'a Keywords) -> String {
        let properties = keywords.get("properties").and_then(Value::as_object);
        if !names_all(keywords) {
            return "object".to_owned();
        }
        let required: Vec<&str> = match keywords.get("required") {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let mut members = Vec::new();
        for (name, schema) in properties.into_iter().flatten() {
            let required = required.contains(&name.as_str());
            if required || schema != false {
                let value = self.value(schema);
                members.push((self.member(name, &value), required));
            }
        }
        for name in required {
            if properties.is_none_or(|own| !own.contains_key(name)) {
                members.push((self.member(name, "value"), true));
            }
        }
        let pair = match keywords.get("additionalProperties") {
            Some(Value::Bool(false)) => None,
            None => properties.is_none().then(|| "pair".to_owned()),
            Some(schema) => {
                let value = self.value(schema);
                Some(self.part(format!("string \":\" ws {value}")))
            }
        };
        enclosed("{", &members_in_order(&members, pair), "}")
    }

    fn member(&mut self, name: &str, value: &str) -> String {
        let key = word(&Value::from(name).to_string());
        self.part(format!("{key} \":\" ws {value}"))
    }
}

/// Properties in their order, each optional one perhaps left out; then any number of others.
fn members_in_order(members: &[(String, bool)], pair: Option<String>) -> String {
    let others = pair.as_ref().map(|pair| format!("(\",\" ws {pair})*"));
    let from = |first: usize| {
        let mut out = String::new();
        for (index, (member, required)) in members.iter().enumerate().skip(first) {
            let _ = match (index == first, required) {
                (true, _) => write!(out, "{member}"),
                (false, true) => write!(out, " \",\" ws {member}"),
                (false, false) => write!(out, " (\",\" ws {member})?"),
            };
        }
        if let Some(others) = &others {
            let _ = write!(out, " {others}");
        }
        out
    };
    // Up to the first that must be there, any may be the first.
    let must = members.iter().position(|(_, required)| *required);
    let last = must.map_or(members.len(), |must| must + 1);
    let mut options: Vec<String> = (0..last).map(from).collect();
    if let (None, Some(pair), Some(others)) = (must, pair, &others) {
        options.push(format!("{pair} {others}"));
    }
    match (options.is_empty(), must) {
        (true, _) => String::new(),
        (false, Some(_)) => either(options.into_iter()),
        (false, None) => format!("({})?", options.join(" | ")),
    }
}

fn string(keywords: &Keywords) -> String {
    let (min, max) = (count(keywords, "minLength"), count(keywords, "maxLength"));
    if (min, max) == (None, None) {
        return "string".to_owned();
    }
    format!("\"\\\"\" char{} \"\\\"\" ws", times(min.unwrap_or(0), max))
}

fn times(min: u64, max: Option<u64>) -> String {
    let min = min.min(REPETITIONS);
    match max.filter(|max| *max <= REPETITIONS) {
        Some(max) => format!("{{{min},{}}}", max.max(min)),
        None if min == 0 => "*".to_owned(),
        None => format!("{{{min},}}"),
    }
}

fn either(options: impl Iterator<Item = String>) -> String {
    let options: Vec<String> = options.collect();
    match options.as_slice() {
        [] => "value".to_owned(),
        [only] => only.clone(),
        _ => format!("({})", options.join(" | ")),
    }
}

fn enclosed(open: &str, inner: &str, close: &str) -> String {
    let space = if inner.is_empty() { "" } else { " " };
    format!("\"{open}\" ws {inner}{space}\"{close}\" ws")
}

/// A text that is spelled in one way.
fn word(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            ' '..='~' => out.push(letter),
            other => {
                let _ = match u32::from(other) {
                    code @ ..=0xff => write!(out, "\\x{code:02X}"),
                    code @ ..=0xffff => write!(out, "\\u{code:04X}"),
                    code => write!(out, "\\U{code:08X}"),
                };
            }
        }
    }
    out.push_str("\" ws");
    out
}
