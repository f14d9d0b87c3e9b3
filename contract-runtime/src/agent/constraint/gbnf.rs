//! A grammar in GBNF, the form of llama.cpp (`grammars/README.md` there).
//!
//! It has no intersections, and its reader unrolls repetitions: it refuses more than [`REPETITIONS`] of one symbol. Scalars
//! become rules of their own, so that a repeated one counts as one symbol.

use std::fmt::Write as _;

use super::regular::{Regular, group, json_char, times};
use super::rules::{Body, Rules, Token};

/// The most repetitions that every reader takes.
pub(super) const REPETITIONS: usize = 1_999;

pub(super) fn write(rules: &Rules) -> String {
    let mut writer = Writer {
        names: super::names(rules, "root"),
        scalars: Vec::new(),
        out: String::new(),
        chars: false,
    };
    for (index, rule) in rules.list.iter().enumerate() {
        let body = writer.body(&rule.body, false);
        let name = writer.name(index);
        let before = if index == 0 { "ws " } else { "" };
        let _ = writeln!(writer.out, "{name} ::= {before}{body}");
    }
    let mut next = 0;
    while let Some(regular) = writer.scalars.get(next).cloned() {
        let body = writer.regular(&regular, false);
        let _ = writeln!(writer.out, "t{next} ::= {body}");
        next += 1;
    }
    if writer.chars {
        let body = writer.regular(&json_char(), false);
        let _ = writeln!(writer.out, "char ::= {body}");
    }
    writer.out.push_str("ws ::= [ \\t\\n\\r]{0,64}\n");
    writer.out
}

struct Writer {
    names: Vec<String>,
    scalars: Vec<Regular>,
    out: String,
    chars: bool,
}

impl Writer {
    fn name(&self, rule: usize) -> String {
        self.names.get(rule).cloned().unwrap_or_default()
    }

    fn scalar(&mut self, regular: &Regular) -> String {
        let place = self.scalars.iter().position(|one| one == regular);
        let place = place.unwrap_or_else(|| {
            self.scalars.push(regular.clone());
            self.scalars.len() - 1
        });
        format!("t{place}")
    }

    fn body(&mut self, body: &Body, one: bool) -> String {
        match body {
            Body::Word(word) => group(format!("{} ws", text(word)), one),
            Body::Token(Token { all }) => {
                let scalar = all
                    .first()
                    .map(|first| self.scalar(first))
                    .unwrap_or_default();
                group(format!("{scalar} ws"), one)
            }
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
                format!("{}{}", self.body(inner, true), capped(*min, *max))
            }
        }
    }

    fn regular(&mut self, regular: &Regular, one: bool) -> String {
        match regular {
            Regular::Class(ranges) => class(ranges),
            Regular::Char => {
                self.chars = true;
                "char".to_owned()
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
                let inner = match &**inner {
                    Regular::Class(_) | Regular::Char | Regular::Text(_) => {
                        self.regular(inner, true)
                    }
                    other => self.scalar(other),
                };
                format!("{inner}{}", capped(*min, *max))
            }
        }
    }
}

fn capped(min: usize, max: Option<usize>) -> String {
    times(min.min(REPETITIONS), max.filter(|max| *max <= REPETITIONS))
}

fn text(exact: &str) -> String {
    let mut out = String::from("\"");
    for letter in exact.chars() {
        push(letter, &mut out);
    }
    out.push('"');
    out
}

fn class(ranges: &[(char, char)]) -> String {
    let mut out = String::from("[");
    for (low, high) in ranges {
        push(*low, &mut out);
        if low != high {
            out.push('-');
            push(*high, &mut out);
        }
    }
    out.push(']');
    out
}

fn push(letter: char, out: &mut String) {
    match letter {
        '"' | '\\' => out.extend(['\\', letter]),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        // What means something in a class is a number there and everywhere.
        '[' | ']' | '-' | '^' => {
            let _ = write!(out, "\\x{:02X}", u32::from(letter));
        }
        ' '..='~' => out.push(letter),
        other => {
            let code = u32::from(other);
            let _ = if code <= 0xff {
                write!(out, "\\x{code:02X}")
            } else if code <= 0xffff {
                write!(out, "\\u{code:04X}")
            } else {
                write!(out, "\\U{code:08X}")
            };
        }
    }
}
