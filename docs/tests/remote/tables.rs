use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

/// A section for each message, and one for each of their parts.
pub(crate) fn of(schemas: &Value) -> String {
    let mut text = String::new();
    let mut parts: BTreeMap<&str, &Value> = BTreeMap::new();
    for (side, title) in [
        ("executor", "Messages from the executor"),
        ("backend", "Messages from the backend"),
    ] {
        let root = &schemas[side];
        let _ = write!(text, "## {title}\n\n");
        for message in list(root, "oneOf") {
            let payload = &message["properties"]["payload"];
            let name = message["properties"]["type"]["const"]
                .as_str()
                .unwrap_or_default();
            let _ = write!(text, "### `{name}`\n\n{}\n\n", told(message));
            match payload["$ref"].as_str().map(last) {
                Some(part) => fields(&mut text, &root["$defs"][part]),
                None => text.push_str("It has no payload.\n\n"),
            }
        }
        let payloads: Vec<_> = list(root, "oneOf")
            .filter_map(|message| message["properties"]["payload"]["$ref"].as_str().map(last))
            .collect();
        let defined = root["$defs"].as_object().into_iter().flatten();
        parts.extend(
            defined
                .filter(|(name, _)| {
                    // A stored result is the same as one that is sent.
                    name.as_str() == "ToolReply" || !payloads.contains(&name.as_str())
                })
                .map(|(name, part)| (name.as_str(), part)),
        );
    }
    text.push_str("## Parts\n\n");
    for (name, part) in parts {
        let _ = write!(text, "### {name}\n\n");
        let about = told(part);
        if !about.is_empty() {
            let _ = write!(text, "{about}\n\n");
        }
        if name == "ToolReply" {
            text.push_str("The payload of [`tool_result`](#tool_result).\n\n");
        } else if part["oneOf"].is_array() {
            choices(&mut text, part);
        } else if part["properties"].is_object() {
            fields(&mut text, part);
        } else {
            let _ = write!(text, "{}.\n\n", kind(part));
        }
    }
    text.trim_end().to_owned() + "\n"
}

fn list<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    value[key].as_array().into_iter().flatten()
}

/// A description without the links of rustdoc, which lead nowhere here.
fn told(value: &Value) -> String {
    let mut text = value["description"]
        .as_str()
        .unwrap_or_default()
        .replace('\n', " ");
    while let Some((before, rest)) = text.split_once('[')
        && let Some((inner, after)) = rest.split_once(']')
    {
        let after = match after
            .strip_prefix('(')
            .and_then(|target| target.split_once(')'))
        {
            Some((_, after)) => after,
            None => after,
        };
        text = format!("{before}{inner}{after}");
    }
    text.replace('|', "\\|")
}

fn fields(text: &mut String, part: &Value) {
    text.push_str("| field | type | meaning |\n|---|---|---|\n");
    let required: Vec<_> = list(part, "required").filter_map(Value::as_str).collect();
    for (name, field) in part["properties"].as_object().into_iter().flatten() {
        let rest = if required.contains(&name.as_str()) {
            ""
        } else {
            ", optional"
        };
        let _ = writeln!(
            text,
            "| `{name}` | {}{rest} | {} |",
            kind(field),
            told(field)
        );
    }
    text.push('\n');
}

fn choices(text: &mut String, part: &Value) {
    for choice in list(part, "oneOf") {
        if let Some(word) = choice["const"].as_str() {
            let _ = writeln!(text, "- `{word}`: {}", told(choice));
        } else {
            let word = choice["properties"]["type"]["const"]
                .as_str()
                .unwrap_or_default();
            let _ = write!(text, "`{word}`: {}\n\n", told(choice));
            fields(text, choice);
        }
    }
    if !text.ends_with("\n\n") {
        text.push('\n');
    }
}

fn last(reference: &str) -> &str {
    reference.rsplit('/').next().unwrap_or_default()
}

/// A type in words, with a link where it has a section.
fn kind(schema: &Value) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = last(reference);
        return format!("[{name}](#{})", name.to_lowercase());
    }
    if let Some(word) = schema["const"].as_str() {
        return format!("`{word}`");
    }
    let other = list(schema, "anyOf").find(|one| one["type"] != "null");
    if let Some(other) = other {
        return kind(other);
    }
    let named = match &schema["type"] {
        Value::Array(types) => types
            .iter()
            .filter_map(Value::as_str)
            .find(|one| *one != "null"),
        one => one.as_str(),
    };
    match (named, schema["format"].as_str()) {
        (Some("array"), _) => format!("list of {}", kind(&schema["items"])),
        (Some("integer"), _) => "whole number".to_owned(),
        (Some("string"), Some("uuid")) => "UUID, as text".to_owned(),
        (Some("string"), _) => "text".to_owned(),
        (Some("boolean"), _) => "`true` or `false`".to_owned(),
        (Some(one), _) => one.to_owned(),
        (None, _) => "JSON".to_owned(),
    }
}
