//! A grammar in the dialect of Lark that llguidance reads (`docs/syntax.md` there).

use std::fmt::Write as _;

use super::regular::{Regular, group, json_char, times};
use super::rules::{Body, Rules, Token};

pub(super) fn write(rules: &Rules) -> String {
    let mut writer = Writer {
        names: super::names(rules, "start"),
        tokens: Vec::new(),
        chars: false,
    };
    let mut out = String::from("%llguidance {\"ignore_once\": true}\n");
    for (index, rule) in rules.list.iter().enumerate() {
        let body = writer.body(&rule.body, false);
        let _ = writeln!(out, "{}: {body}", writer.name(index));
    }
    for (index, token) in std::mem::take(&mut writer.tokens).iter().enumerate() {
        let all: Vec<_> = token
            .iter()
            .map(|one| writer.regular(one, token.len() > 1))
            .collect();
        let _ = writeln!(out, "T{index}: {}", all.join(" & "));
    }
    if writer.chars {
        let _ = writeln!(out, "CHAR: {}", writer.regular(&json_char(), false));
    }
    out.push_str("%ignore /[ \\t\\r\\n]{1,64}/\n");
    out
}

struct Writer {
    names: Vec<String>,
    tokens: Vec<Vec<Regular>>,
    chars: bool,
}

impl Writer {
    fn name(&self, rule: usize) -> String {
        self.names.get(rule).cloned().unwrap_or_default()
    }

    fn token(&mut self, token: &Token) -> String {
        let place = self.tokens.iter().position(|one| *one == token.all);
        let place = place.unwrap_or_else(|| {
            self.tokens.push(token.all.clone());
            self.tokens.len() - 1
        });
        format!("T{place}")
    }

    fn body(&mut self, body: &Body, one: bool) -> String {
        match body {
            Body::Word(word) => text(word),
            Body::Token(token) => self.token(token),
            Body::Rule(rule) => self.name(*rule),
            Body::Sequence(parts) if parts.is_empty() => "\"\"".to_owned(),
            Body::Sequence(parts) => {
                let parts: Vec<_> = parts
                    .iter()
                    .map(|part| self.body(part, matches!(part, Body::Either(_))))
                    .collect();
                group(parts.join(" "), one)
            }
            Body::Either(options) => {
                let options: Vec<_> = options
                    .iter()
                    .map(|option| self.body(option, false))
                    .collect();
                group(options.join(" | "), one)
            }
            Body::Repeat(inner, min, max) => {
                let inner = self.body(inner, false);
                format!("({inner}){}", times(*min, *max))
            }
        }
    }

    fn regular(&mut self, regular: &Regular, one: bool) -> String {
        match regular {
            Regular::Class(ranges) => class(ranges),
            Regular::Char => {
                self.chars = true;
                "CHAR".to_owned()
            }
            Regular::Text(exact) => text(exact),
            Regular::Sequence(parts) => {
                let parts: Vec<_> = parts
                    .iter()
                    .map(|part| self.regular(part, matches!(part, Regular::Either(_))))
                    .collect();
                group(parts.join(" "), one)
            }
            Regular::Either(options) => {
                let options: Vec<_> = options
                    .iter()
                    .map(|option| self.regular(option, false))
                    .collect();
                group(options.join(" | "), one)
            }
            Regular::Repeat(inner, min, max) => {
                let inner = self.regular(inner, false);
                format!("({inner}){}", times(*min, *max))
            }
        }
    }
}

/// A string of Lark is one of JSON, without a bare DEL.
fn text(exact: &str) -> String {
    serde_json::Value::from(exact)
        .to_string()
        .replace('\x7f', "\\u007f")
}

fn class(ranges: &[(char, char)]) -> String {
    let mut out = String::from("/[");
    for (low, high) in ranges {
        push(*low, &mut out);
        if low != high {
            out.push('-');
            push(*high, &mut out);
        }
    }
    out.push_str("]/");
    out
}

fn push(letter: char, out: &mut String) {
    if letter.is_ascii_alphanumeric() {
        out.push(letter);
    } else {
        let _ = write!(out, "\\x{{{:X}}}", u32::from(letter));
    }
}
