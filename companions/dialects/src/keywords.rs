//! Converts a schema without combinations, keyword by keyword.

use contract_schema::reader::join;
use contract_schema::vocabulary::{KeywordValue, describe, holds};
use serde_json::{Map, Value, json};

use crate::dnf::{has_type, named, names};
use crate::prose;
use crate::walk::{Walk, nullable};

type Keywords = Map<String, Value>;

impl Walk<'_> {
    /// A schema without references, `anyOf`, `oneOf` and `const`.
    pub(super) fn plain(&mut self, mut node: Keywords, at: &str) -> Value {
        let Some(types) = types(&node) else {
            return self.untyped(&node, at);
        };
        let mut values: Vec<&str> = types.iter().map(String::as_str).collect();
        values.retain(|name| *name != "null");
        if values.len() < 2 {
            node.insert("type".to_owned(), spelled(&types));
            return self.single(node, at);
        }
        let annotations = ["description", "default", "examples"];
        let outer = annotations
            .iter()
            .filter_map(|keyword| node.shift_remove_entry(*keyword))
            .collect();
        let mut branches = Vec::with_capacity(types.len());
        for branch in types.iter().filter_map(|name| branch(&node, name)) {
            branches.push(self.single(branch, at));
        }
        if branches.is_empty() {
            return self.never(at);
        }
        self.any_of(branches, &outer)
    }

    /// A schema of one type, or of one type and null.
    fn single(&mut self, mut node: Keywords, at: &str) -> Value {
        let mut words = Vec::new();
        relevant(&mut node);
        (self.subset.prepare)(&mut node, &mut words);
        let mut out = Keywords::new();
        let types = node.shift_remove("type").unwrap_or_default();
        out.insert("type".to_owned(), types.clone());
        let description = node.shift_remove("description");
        values(&mut node, &mut out);
        if named(&types, "object") {
            self.members(&mut node, &mut out, at);
        }
        if named(&types, "array") {
            self.items(&mut node, &mut out, at);
        }
        let mut dropped = Keywords::new();
        for (keyword, value) in node {
            if self.has(&keyword, &value) {
                out.insert(keyword, value);
            } else {
                dropped.insert(keyword, value);
            }
        }
        words.extend(prose::phrases(&dropped));
        let own = description.as_ref().and_then(Value::as_str);
        describe(&mut out, own, &words);
        (self.subset.finish)(&mut out);
        Value::Object(out)
    }

    /// Whether a keyword that holds no schema goes through as it is.
    pub(super) fn has(&self, keyword: &str, value: &Value) -> bool {
        holds(keyword) == KeywordValue::Data
            && self.subset.keywords.contains(&keyword)
            && (keyword != "format"
                || value
                    .as_str()
                    .is_some_and(|format| self.subset.formats.contains(&format)))
    }

    fn members(&mut self, node: &mut Keywords, out: &mut Keywords, at: &str) {
        self.others(node, out, at);
        let required = node.shift_remove("required").unwrap_or_else(|| json!([]));
        let properties = match node.shift_remove("properties") {
            Some(Value::Object(properties)) => properties,
            _ => Keywords::new(),
        };
        let is_required = |name: &str| {
            let names = required.as_array();
            names.is_some_and(|names| names.iter().any(|one| one == name))
        };
        let unsaid = required.as_array().into_iter().flatten();
        let unsaid = unsaid.filter_map(Value::as_str);
        for name in unsaid.filter(|name| !properties.contains_key(*name)) {
            if self.subset.closed {
                let advice = "give it a type among the properties";
                let at = join(&join(at, "properties"), name);
                self.problem(&at, "a required property without a type", advice);
            }
        }
        let mut written = Keywords::new();
        for (name, schema) in properties {
            // What can have no value is never there.
            if schema == Value::Bool(false) && !is_required(&name) {
                continue;
            }
            let at = join(&join(at, "properties"), &name);
            let mut schema = self.schema(&schema, &at);
            if self.subset.all_required && !is_required(&name) {
                nullable(&mut schema);
            }
            written.insert(name, schema);
        }
        let required = if self.subset.all_required {
            written.keys().cloned().map(Value::String).collect()
        } else {
            required
        };
        out.insert("properties".to_owned(), Value::Object(written));
        if self.subset.all_required || required.as_array().is_some_and(|names| !names.is_empty()) {
            out.insert("required".to_owned(), required);
        }
    }

    /// What an object says of keys that are not among its properties.
    fn others(&mut self, node: &mut Keywords, out: &mut Keywords, at: &str) {
        let open = |value: Option<&Value>| value.is_some_and(|value| value != &Value::Bool(false));
        let patterns = node.contains_key("patternProperties");
        if self.subset.closed {
            let advice = "use a struct, or a list of keys with their values";
            let more = ["additionalProperties", "unevaluatedProperties"];
            let unknown = !node.contains_key("properties")
                && !more.iter().any(|keyword| node.contains_key(*keyword));
            if patterns || more.iter().any(|keyword| open(node.get(*keyword))) {
                self.problem(at, "an object with any keys", advice);
            } else if unknown {
                let advice = "describe its properties; for an empty struct add `#[serde(deny_unknown_fields)]`";
                self.problem(at, "an object of unknown contents", advice);
            }
            for keyword in more {
                node.shift_remove(keyword);
            }
            out.insert("additionalProperties".to_owned(), json!(false));
            return;
        }
        let unevaluated = node.shift_remove("unevaluatedProperties");
        let others = node.shift_remove("additionalProperties").or(unevaluated);
        let Some(others) = others else { return };
        // Without the patterns, the keys that match them would be among the others.
        if patterns || !self.subset.keywords.contains(&"additionalProperties") {
            node.insert("additionalProperties".to_owned(), others);
            return;
        }
        let others = match others {
            Value::Object(_) => self.schema(&others, &join(at, "additionalProperties")),
            flag => flag,
        };
        out.insert("additionalProperties".to_owned(), others);
    }

    fn items(&mut self, node: &mut Keywords, out: &mut Keywords, at: &str) {
        if let Some(Value::Array(prefix)) = node.get("prefixItems").cloned() {
            self.tuple(&prefix, node, out, at);
            return;
        }
        match node.shift_remove("items") {
            Some(items @ Value::Object(_)) => {
                let items = self.schema(&items, &join(at, "items"));
                out.insert("items".to_owned(), items);
            }
            Some(Value::Bool(false)) => self.no_items(node, out),
            _ => {
                if self.subset.typed {
                    let any = self.untyped(&Keywords::new(), &join(at, "items"));
                    out.insert("items".to_owned(), any);
                }
            }
        }
    }

    /// A list that is always empty; its items need a type all the same.
    fn no_items(&mut self, node: &mut Keywords, out: &mut Keywords) {
        node.insert("maxItems".to_owned(), json!(0));
        if self.subset.typed {
            out.insert("items".to_owned(), json!({"type": "string"}));
        }
    }

    /// Items that each have a place: where the dialect has no such list, every item may be any of them.
    fn tuple(&mut self, prefix: &[Value], node: &mut Keywords, out: &mut Keywords, at: &str) {
        let rest = node.shift_remove("items");
        let place = join(at, "prefixItems");
        let written: Vec<Value> = prefix
            .iter()
            .enumerate()
            .map(|(index, item)| self.schema(item, &format!("{place}/{index}")))
            .collect();
        let most = node.get("maxItems").and_then(Value::as_u64);
        let bounded = most.is_some_and(|most| most <= prefix.len() as u64)
            || rest == Some(Value::Bool(false));
        if rest == Some(Value::Bool(false)) && most.is_none_or(|most| most > prefix.len() as u64) {
            node.insert("maxItems".to_owned(), json!(prefix.len()));
        }
        let rest = rest.filter(|rest| !bounded && rest.is_object());
        let rest = rest.map(|rest| self.schema(&rest, &join(at, "items")));
        if self.subset.keywords.contains(&"prefixItems") {
            node.shift_remove("prefixItems");
            out.insert("prefixItems".to_owned(), Value::Array(written));
            out.extend(rest.map(|rest| ("items".to_owned(), rest)));
            return;
        }
        if !bounded && rest.is_none() {
            let items = self.untyped(&Keywords::new(), &join(at, "items"));
            out.insert("items".to_owned(), items);
            return;
        }
        let mut any: Vec<Value> = Vec::new();
        for item in written.into_iter().chain(rest) {
            if !any.contains(&item) {
                any.push(item);
            }
        }
        if any.len() == 1 {
            node.shift_remove("prefixItems");
        }
        let items = self.any_of(any, &Keywords::new());
        out.insert("items".to_owned(), items);
    }
}

/// A list of values goes through if all of them are scalars.
fn values(node: &mut Keywords, out: &mut Keywords) {
    let scalar = |value: &Value| !value.is_array() && !value.is_object();
    let listed = node.get("enum").and_then(Value::as_array);
    if listed.is_some_and(|values| values.iter().all(scalar)) {
        out.extend(node.shift_remove_entry("enum"));
    }
}

/// What `type` lists, or what the listed values have; `None` where every type is possible.
fn types(node: &Keywords) -> Option<Vec<String>> {
    if let Some(types) = node.get("type") {
        return Some(names(types).into_iter().map(str::to_owned).collect());
    }
    let values = node.get("enum")?.as_array()?;
    let all = [
        "null", "boolean", "integer", "number", "string", "array", "object",
    ];
    let mut found: Vec<String> = Vec::new();
    for value in values {
        let name = all.iter().find(|name| has_type(&json!(name), value));
        if let Some(name) = name
            && !found.iter().any(|known| known == name)
        {
            found.push((*name).to_owned());
        }
    }
    Some(found)
}

fn spelled(types: &[String]) -> Value {
    match types {
        [only] => json!(only),
        several => json!(several),
    }
}

/// A schema of several types as it is for one of them; `None` if none of its values has that type.
fn branch(node: &Keywords, name: &str) -> Option<Keywords> {
    let mut node = node.clone();
    let kind = json!(name);
    if let Some(Value::Array(values)) = node.get_mut("enum") {
        values.retain(|value| has_type(&kind, value));
        if values.is_empty() {
            return None;
        }
    }
    node.insert("type".to_owned(), kind);
    Some(node)
}

/// Takes out what says nothing of values of its types.
fn relevant(node: &mut Keywords) {
    let Some(types) = node.get("type").cloned() else {
        return;
    };
    let any = |wanted: &[&str]| wanted.iter().any(|name| named(&types, name));
    node.retain(|keyword, _| match keyword.as_str() {
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            any(&["integer", "number"])
        }
        "minLength" | "maxLength" | "pattern" | "contentEncoding" | "contentMediaType" => {
            any(&["string"])
        }
        "minItems" | "maxItems" | "uniqueItems" | "items" | "prefixItems" | "contains"
        | "minContains" | "maxContains" | "unevaluatedItems" => any(&["array"]),
        "properties"
        | "required"
        | "additionalProperties"
        | "patternProperties"
        | "propertyNames"
        | "minProperties"
        | "maxProperties"
        | "dependentRequired"
        | "dependentSchemas"
        | "unevaluatedProperties" => any(&["object"]),
        _ => true,
    });
}
