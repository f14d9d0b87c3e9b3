//! Reduces a schema to the keywords of a dialect; the rest becomes words in the same value's description.
//!
//! The result accepts at least what the schema accepts, but for two liberties that [`Subset`] names: an object may be
//! closed, and an absent property may be written as null.

use std::collections::HashMap;

use contract_schema::vocabulary::describe;
use serde_json::{Map, Value, json};

use crate::dnf::{Closed, DnfBuilder, is_recursive, names, references, resolve};
use crate::problem::{ExportProblem, Problems};
use crate::prose;

type Keywords = Map<String, Value>;

/// More schemas than this are not written: types inside each other, each written out where it is used, have no bound.
const LARGEST: usize = 20_000;

/// What a dialect can say.
pub(super) struct Subset {
    /// Its keywords. `type`, `enum`, `anyOf`, `description`, `properties` and `required` are in all of them; `const` and
    /// `oneOf` are never written: a list of one value and `anyOf` say the same or less everywhere.
    pub(super) keywords: &'static [&'static str],
    /// The values of `format`, where that is among the keywords.
    pub(super) formats: &'static [&'static str],
    /// Every object is written closed: keys of which the schema says nothing are ignored by a type, so that no call
    /// loses a meaning; an object that says something of other keys is a problem.
    pub(super) closed: bool,
    /// A value of any type cannot be said.
    pub(super) typed: bool,
    /// Every property is required, and null where it would be absent.
    pub(super) all_required: bool,
    pub(super) references: References,
    /// Changes a plain schema of one type, or one type and null, before its keywords are sorted; may add words.
    pub(super) prepare: fn(&mut Keywords, &mut Vec<String>),
    /// Changes a finished schema, words included; may meet the same one twice.
    pub(super) finish: fn(&mut Keywords),
}

/// How a dialect refers from one schema to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum References {
    /// `$ref` alone in its schema, to `$defs` at the root; types may lie inside themselves.
    Kept,
    /// Not at all: every type is written where it is used, and none may lie inside itself.
    Inlined,
}

/// Reduces the schema of the arguments of one tool.
pub(super) fn reduce(tool: &str, input: &Value, subset: &Subset) -> Result<Value, Problems> {
    let mut walk = Walk {
        tool,
        root: input,
        subset,
        problems: Vec::new(),
        open: Vec::new(),
        written: 0,
        definitions: Vec::new(),
        recursive: HashMap::new(),
    };
    let mut schema = walk.schema(input, "");
    if schema.get("type").is_none_or(|types| types != "object") && walk.problems.is_empty() {
        let advice = "make each form a tool of its own, or put the choice into one parameter";
        walk.problem("", "a choice between several sets of arguments", advice);
    }
    let definitions = walk.definitions();
    if let (Value::Object(keywords), false) = (&mut schema, definitions.is_empty()) {
        keywords.insert("$defs".to_owned(), Value::Object(definitions));
    }
    if walk.problems.is_empty() {
        return Ok(schema);
    }
    Err(walk.problems)
}

pub(super) struct Walk<'t> {
    tool: &'t str,
    root: &'t Value,
    pub(super) subset: &'t Subset,
    problems: Problems,
    /// The references that are being written out, from the outside in.
    open: Vec<String>,
    written: usize,
    /// Pointer and name of each schema that is referred to, in the order in which they were met.
    definitions: Vec<(String, String)>,
    recursive: HashMap<String, bool>,
}

impl Walk<'_> {
    pub(super) fn problem(&mut self, at: &str, what: &str, advice: &'static str) {
        let problem = ExportProblem::inexpressible(self.tool, at, what, advice);
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    pub(super) fn schema(&mut self, schema: &Value, at: &str) -> Value {
        self.written += 1;
        if self.written > LARGEST {
            if self.written == LARGEST + 1 {
                self.problem("", "a type of this size", "use a smaller one");
            }
            return json!({});
        }
        match schema {
            Value::Object(keywords) => self.node(keywords, at),
            Value::Bool(false) => self.never(at),
            _ => self.untyped(&Keywords::new(), at),
        }
    }

    pub(super) fn never(&mut self, at: &str) -> Value {
        self.problem(at, "a type without values", "remove it");
        json!({})
    }

    /// A value of any type.
    pub(super) fn untyped(&mut self, keywords: &Keywords, at: &str) -> Value {
        if self.subset.typed {
            let advice = "give it a type";
            self.problem(at, "a value of any type", advice);
        }
        let (mut out, mut dropped) = split(keywords, |keyword, value| self.has(keyword, value));
        let own = dropped.shift_remove("description");
        let own = own.as_ref().and_then(Value::as_str);
        describe(&mut out, own, &prose::phrases(&dropped));
        (self.subset.finish)(&mut out);
        Value::Object(out)
    }

    fn node(&mut self, keywords: &Keywords, at: &str) -> Value {
        let (annotations, mut bare) = split(keywords, |keyword, _| annotates(keyword));
        bare.shift_remove("$defs");
        let mut restricting = bare.iter();
        if let (Some((keyword, value)), None) = (restricting.next(), restricting.next()) {
            match (keyword.as_str(), value) {
                ("$ref", Value::String(target)) => {
                    return self.reference(target, &annotations, at);
                }
                ("anyOf" | "oneOf", Value::Array(branches)) => {
                    return self.union(branches, &annotations, &format!("{at}/{keyword}"));
                }
                ("allOf", Value::Array(members)) => {
                    if let [Value::Object(only)] = members.as_slice() {
                        return self.node(&under(&annotations, only), at);
                    }
                }
                _ => {}
            }
        }
        self.opened(&annotations, &bare, at)
    }

    /// A schema of several keywords, some of which may combine others.
    fn opened(&mut self, annotations: &Keywords, bare: &Keywords, at: &str) -> Value {
        let before = self.open.len();
        let found = DnfBuilder {
            root: self.root,
            open: &mut self.open,
        }
        .alternatives(bare);
        let schema = match found {
            Ok(plain) => match plain.as_slice() {
                [] => self.never(at),
                [only] => self.plain(under(annotations, only), at),
                several => {
                    let branches = several.iter();
                    let branches = branches.map(|branch| self.plain(branch.clone(), at));
                    let branches = branches.collect();
                    self.any_of(branches, annotations)
                }
            },
            Err(Closed::Recursive) => self.again(under(annotations, bare), at),
            Err(Closed::TooMany) => {
                let advice = "use fewer alternatives side by side";
                self.problem(at, "a choice between so many forms", advice);
                json!({})
            }
            Err(Closed::Dangling) => self.dangling(at),
        };
        self.open.truncate(before);
        schema
    }

    fn dangling(&mut self, at: &str) -> Value {
        self.problem(at, "a reference to nothing", "define what it refers to");
        json!({})
    }

    /// A schema inside itself that is further restricted there: the restrictions become words.
    fn again(&mut self, mut keywords: Keywords, at: &str) -> Value {
        let target = keywords.shift_remove("$ref");
        let opens = |keyword: &str| {
            matches!(
                keyword,
                "properties" | "allOf" | "anyOf" | "oneOf" | "patternProperties"
            )
        };
        match target {
            Some(Value::String(target)) if !keywords.keys().any(|keyword| opens(keyword)) => {
                self.reference(&target, &keywords, at)
            }
            _ => {
                let advice = "move the recursive part to a type of its own";
                self.problem(at, "a recursive type with further members", advice);
                json!({})
            }
        }
    }

    /// A reference, and words for what stands beside it.
    fn reference(&mut self, target: &str, beside: &Keywords, at: &str) -> Value {
        let Some((pointer, schema)) = resolve(self.root, target) else {
            return self.dangling(at);
        };
        let root = self.root;
        let known = self.recursive.entry(pointer.clone());
        let recursive = *known.or_insert_with(|| is_recursive(root, &pointer, references));
        let references = self.subset.references;
        if recursive && references == References::Inlined {
            let advice = "use a type of limited depth";
            self.problem(at, "a type inside itself", advice);
            return json!({});
        }
        let silent = beside
            .iter()
            .all(|(keyword, value)| keyword != "description" && prose::is_silent(keyword, value));
        if recursive || (silent && references != References::Inlined) {
            let reference = json!({"$ref": self.define(pointer)});
            if silent {
                return reference;
            }
            // Nothing may stand beside a reference.
            return self.any_of(vec![reference], beside);
        }
        match schema {
            Value::Object(keywords) => self.node(&under(beside, keywords), at),
            other => self.schema(other, at),
        }
    }

    fn define(&mut self, pointer: String) -> String {
        let known = self.definitions.iter().find(|(known, _)| *known == pointer);
        if let Some((_, name)) = known {
            return format!("#/$defs/{name}");
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let step = pointer.rsplit('/').next().unwrap_or_default();
        let step: String = step
            .chars()
            .map(|c| if plain(c) { c } else { '_' })
            .collect();
        let step = if step.is_empty() {
            "Arguments".to_owned()
        } else {
            step
        };
        let taken = |name: &str| self.definitions.iter().any(|(_, known)| known == name);
        let mut name = step.clone();
        let mut number = 2;
        while taken(&name) {
            name = format!("{step}{number}");
            number += 1;
        }
        let target = format!("#/$defs/{name}");
        self.definitions.push((pointer, name));
        target
    }

    /// What was referred to; writing one of them may refer to others.
    fn definitions(&mut self) -> Keywords {
        let mut bodies = Keywords::new();
        while let Some((pointer, name)) = self.definitions.get(bodies.len()).cloned() {
            let root = self.root;
            self.open = vec![pointer.clone()];
            let body = root
                .pointer(&pointer)
                .map(|body| self.schema(body, &pointer));
            bodies.insert(name, body.unwrap_or_else(|| json!({})));
        }
        bodies
    }

    fn union(&mut self, branches: &[Value], annotations: &Keywords, at: &str) -> Value {
        let branches = branches.iter().enumerate();
        let branches: Vec<Value> = branches
            .filter(|(_, branch)| **branch != Value::Bool(false))
            .map(|(index, branch)| self.schema(branch, &format!("{at}/{index}")))
            .collect();
        if branches.is_empty() {
            return self.never(at);
        }
        self.any_of(branches, annotations)
    }

    /// Any of several finished schemas, with what is said of all of them.
    pub(super) fn any_of(&mut self, branches: Vec<Value>, annotations: &Keywords) -> Value {
        let unique = flat(branches);
        let mut out = Keywords::new();
        let mut own = annotations
            .get("description")
            .and_then(Value::as_str)
            .map(str::to_owned);
        let (kept, mut dropped) = split(annotations, |keyword, value| self.has(keyword, value));
        dropped.shift_remove("description");
        let mut phrases = prose::phrases(&dropped);
        match (listed(&unique), unique.as_slice()) {
            (Some((only, said)), _) => {
                phrases.splice(0..0, said);
                out.extend(only);
            }
            (None, [Value::Object(only)]) if !only.contains_key("$ref") => {
                let mut only = only.clone();
                if let Some(Value::String(text)) = only.shift_remove("description") {
                    own = Some(own.map_or(text.clone(), |own| format!("{own}\n{text}")));
                }
                out.extend(only);
            }
            _ => {
                out.insert("anyOf".to_owned(), Value::Array(unique));
            }
        }
        out.extend(
            kept.into_iter()
                .filter(|(keyword, _)| keyword != "description"),
        );
        describe(&mut out, own.as_deref(), &phrases);
        (self.subset.finish)(&mut out);
        Value::Object(out)
    }
}

/// The keywords for which the test holds, and the others.
fn split(keywords: &Keywords, test: impl Fn(&str, &Value) -> bool) -> (Keywords, Keywords) {
    let all = keywords.clone().into_iter();
    all.partition(|(keyword, value)| test(keyword, value))
}

/// Whether `keyword` says something about values without restricting them.
fn annotates(keyword: &str) -> bool {
    matches!(
        keyword,
        "title"
            | "description"
            | "default"
            | "examples"
            | "deprecated"
            | "readOnly"
            | "writeOnly"
            | "$comment"
    ) || keyword.starts_with("x-")
}

/// A schema with the annotations of the place where it is used; the descriptions of both, that of the place first.
pub(super) fn under(place: &Keywords, schema: &Keywords) -> Keywords {
    let mut all = schema.clone();
    for (keyword, value) in place {
        match (all.get_mut(keyword), value) {
            (Some(Value::String(inner)), Value::String(outer)) if keyword == "description" => {
                if outer.contains(inner.as_str()) {
                    inner.clone_from(outer);
                } else {
                    *inner = format!("{outer}\n{inner}");
                }
            }
            _ => {
                all.insert(keyword.clone(), value.clone());
            }
        }
    }
    all
}

/// Each branch once; a choice inside a choice is one choice.
fn flat(branches: Vec<Value>) -> Vec<Value> {
    let mut unique: Vec<Value> = Vec::with_capacity(branches.len());
    for branch in branches {
        let inner = match &branch {
            Value::Object(keywords) if keywords.len() == 1 => keywords.get("anyOf"),
            _ => None,
        };
        let inner = match inner {
            Some(Value::Array(inner)) => inner.clone(),
            _ => vec![branch],
        };
        for branch in inner {
            if !unique.contains(&branch) {
                unique.push(branch);
            }
        }
    }
    unique
}

/// Branches that only list values of one type, as one list and what is said of each value.
fn listed(branches: &[Value]) -> Option<(Keywords, Vec<String>)> {
    let kind = branches
        .first()?
        .get("type")
        .filter(|kind| kind.is_string())?;
    if branches.len() < 2 {
        return None;
    }
    let (mut values, mut words) = (Vec::new(), Vec::new());
    for branch in branches {
        let keywords = branch.as_object()?;
        let own = |keyword: &String| matches!(keyword.as_str(), "type" | "enum" | "description");
        if keywords.get("type") != Some(kind) || !keywords.keys().all(own) {
            return None;
        }
        let here = keywords.get("enum")?.as_array()?;
        if let Some(text) = keywords.get("description").and_then(Value::as_str) {
            let these: Vec<_> = here.iter().map(Value::to_string).collect();
            words.push(format!("{}: {text}", these.join(", ")));
        }
        for value in here {
            if !values.contains(value) {
                values.push(value.clone());
            }
        }
    }
    let list = Keywords::from_iter([
        ("type".to_owned(), kind.clone()),
        ("enum".to_owned(), Value::Array(values)),
    ]);
    Some((list, words))
}

/// Admits null as well.
pub(super) fn nullable(schema: &mut Value) {
    let Value::Object(keywords) = schema else {
        return;
    };
    if keywords.contains_key("$ref") {
        *schema = json!({"anyOf": [schema.take(), {"type": "null"}]});
        return;
    }
    if let Some(Value::Array(branches)) = keywords.get_mut("anyOf") {
        if !branches.iter().any(admits_null) {
            branches.push(json!({"type": "null"}));
        }
        return;
    }
    let Some(types) = keywords.get("type") else {
        return;
    };
    let mut types: Vec<Value> = names(types).into_iter().map(Value::from).collect();
    if !types.contains(&json!("null")) {
        types.push(json!("null"));
        keywords.insert("type".to_owned(), Value::Array(types));
    }
    if let Some(Value::Array(values)) = keywords.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
}

fn admits_null(schema: &Value) -> bool {
    let null = schema
        .get("type")
        .is_some_and(|types| names(types).contains(&"null"));
    let values = schema.get("enum").and_then(Value::as_array);
    null && values.is_none_or(|values| values.contains(&Value::Null))
}
