//! Parses messages: string literals that may show parameters by name, as `format!` does.

use syn::LitStr;

use crate::args::listed;
use crate::errors::Errors;
use crate::model::{Message, Param};

/// Checks a message against the names it may show.
pub(crate) fn check(
    errors: &mut Errors,
    literal: LitStr,
    params: &[Param],
    result: Option<&str>,
) -> Option<Message> {
    let text = literal.value();
    if text.trim().is_empty() {
        errors.on(
            &literal,
            "an empty message says nothing; say what went wrong, or leave it out",
        );
        return None;
    }
    let placeholders = match placeholders(&text) {
        Ok(placeholders) => placeholders,
        Err(message) => {
            errors.on(&literal, message);
            return None;
        }
    };
    let mut fine = true;
    for name in &placeholders {
        let param = params.iter().find(|param| param.bindings.contains(name));
        let problem = match param {
            Some(param) if param.is_secret() => {
                format!("`{name}` is secret, and this message would show it; leave it out")
            }
            None if Some(name.as_str()) != result => unknown(name, params, result),
            _ => continue,
        };
        errors.on(&literal, problem);
        fine = false;
    }
    fine.then_some(Message {
        literal,
        placeholders,
    })
}

fn unknown(name: &str, params: &[Param], result: Option<&str>) -> String {
    if name.is_empty() || name.bytes().all(|byte| byte.is_ascii_digit()) {
        return format!(
            "a message has no other arguments, so `{{{name}}}` shows nothing; name the parameter"
        );
    }
    let shown = params
        .iter()
        .filter(|param| !param.is_secret())
        .flat_map(|param| param.bindings.iter());
    let known: Vec<&str> = shown.map(String::as_str).chain(result).collect();
    if known.is_empty() {
        return format!("`{{{name}}}` names no parameter; write `{{{{` and `}}}}` for braces");
    }
    format!(
        "`{{{name}}}` names no parameter; a message here can show {}",
        listed(&known)
    )
}

/// The names shown by a format string, in order of first appearance; a name in width or precision counts.
pub(crate) fn placeholders(text: &str) -> Result<Vec<String>, &'static str> {
    let mut names: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    };
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let brace = &rest[at..];
        if brace.starts_with("{{") || brace.starts_with("}}") {
            rest = &brace[2..];
            continue;
        }
        if brace.starts_with('}') {
            return Err("this message closes a `}` it never opened; write `}}` for a brace");
        }
        let Some(end) = brace.find('}') else {
            return Err("this message opens a `{` it never closes; write `{{` for a brace");
        };
        let inside = &brace[1..end];
        let (name, format) = inside.split_once(':').unwrap_or((inside, ""));
        add(name.trim());
        for counted in format.split('$').rev().skip(1) {
            let start = counted.rfind(|letter: char| !letter.is_alphanumeric() && letter != '_');
            add(counted
                .get(start.map_or(0, |start| start + 1)..)
                .unwrap_or(counted));
        }
        rest = &brace[end + 1..];
    }
    Ok(names)
}
