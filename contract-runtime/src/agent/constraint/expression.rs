//! A grammar without recursion as one regular expression.

use super::error::ConstraintError;
use super::regular::{Regular, json_char, times};
use super::rules::{Body, Rules, Token};

/// The longest expression that is written.
const LENGTH: usize = 1 << 20;

pub(super) fn write(rules: &Rules) -> Result<String, ConstraintError> {
    let mut writer = Writer {
        rules,
        inside: Vec::new(),
        out: String::new(),
    };
    writer.rule(0)?;
    Ok(writer.out)
}

struct Writer<'r> {
    rules: &'r Rules,
    /// The rules that are being written.
    inside: Vec<usize>,
    out: String,
}

impl Writer<'_> {
    fn rule(&mut self, number: usize) -> Result<(), ConstraintError> {
        let Some(rule) = self.rules.get(number) else {
            return Ok(());
        };
        if self.inside.contains(&number) {
            return Err(ConstraintError::Recursive {
                rule: rule.name.clone(),
            });
        }
        self.inside.push(number);
        self.body(&rule.body)?;
        self.inside.pop();
        Ok(())
    }

    fn body(&mut self, body: &Body) -> Result<(), ConstraintError> {
        if self.out.len() > LENGTH {
            return Err(ConstraintError::TooLarge {
                at: "the whole".to_owned(),
                what: "bytes",
                limit: LENGTH,
            });
        }
        match body {
            Body::Word(word) => {
                word.chars().for_each(|letter| push(letter, &mut self.out));
                self.out.push_str(" ?");
            }
            Body::Token(Token { all }) => {
                if let Some(first) = all.first() {
                    self.regular(first);
                }
                self.out.push_str(" ?");
            }
            Body::Rule(rule) => {
                self.out.push_str("(?:");
                self.rule(*rule)?;
                self.out.push(')');
            }
            Body::Sequence(parts) => {
                for part in parts {
                    self.body(part)?;
                }
            }
            Body::Either(options) => {
                self.out.push_str("(?:");
                for (index, option) in options.iter().enumerate() {
                    if index > 0 {
                        self.out.push('|');
                    }
                    self.body(option)?;
                }
                self.out.push(')');
            }
            Body::Repeat(inner, min, max) => {
                self.out.push_str("(?:");
                self.body(inner)?;
                self.out.push(')');
                self.out.push_str(&times(*min, *max));
            }
        }
        Ok(())
    }

    fn regular(&mut self, regular: &Regular) {
        match regular {
            Regular::Class(ranges) => {
                self.out.push('[');
                for (low, high) in ranges {
                    push(*low, &mut self.out);
                    if low != high {
                        self.out.push('-');
                        push(*high, &mut self.out);
                    }
                }
                self.out.push(']');
            }
            Regular::Char => self.regular(&json_char()),
            Regular::Text(exact) => exact.chars().for_each(|letter| push(letter, &mut self.out)),
            Regular::Sequence(parts) => parts.iter().for_each(|part| self.regular(part)),
            Regular::Either(options) => {
                self.out.push_str("(?:");
                for (index, option) in options.iter().enumerate() {
                    if index > 0 {
                        self.out.push('|');
                    }
                    self.regular(option);
                }
                self.out.push(')');
            }
            Regular::Repeat(inner, min, max) => {
                self.out.push_str("(?:");
                self.regular(inner);
                self.out.push(')');
                self.out.push_str(&times(*min, *max));
            }
        }
    }
}

/// One letter, escaped where it means something to some engine, in a class or outside.
fn push(letter: char, out: &mut String) {
    if r"^$\.*+?()[]{}|-/".contains(letter) {
        out.push('\\');
    }
    out.push(letter);
}
