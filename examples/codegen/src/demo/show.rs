//! Prints the events of a run to the terminal.

use std::io::{self, Write};

use serde_json::Value;

use crate::contract::{Finder, Happening};

/// Prints events as they come, without what differs from one run to the next.
#[derive(Default)]
pub(super) struct Show {
    /// Whether the last line is a piece of the model's text.
    is_inside: bool,
    /// The calls of a reply and their results: calls that run side by side end in any order.
    open: Vec<(String, Option<String>)>,
}

/// The longest text of a line, in characters.
const LINE: usize = 160;

impl Show {
    pub(super) fn event(&mut self, what: &Happening) -> io::Result<()> {
        match what {
            Happening::TextDelta { text } => {
                if !std::mem::replace(&mut self.is_inside, true) {
                    println!();
                }
                print!("{}", harmless(text));
                io::stdout().flush()?;
            }
            Happening::State { state } => {
                self.results();
                self.line("run", state.name());
            }
            Happening::Message { text } => self.line("task", text),
            Happening::Attached { tools, refused } => {
                self.line("tools", &format!("{} were accepted", tools.len()));
                for one in refused {
                    self.line("refused", one);
                }
            }
            Happening::ToolCall {
                call_id,
                tool,
                arguments,
            } => {
                self.open.push((call_id.clone(), None));
                self.line("call", &shortened(&format!("{tool} {arguments}")));
            }
            Happening::Violation {
                clause,
                predicate,
                message,
                found_by,
                ..
            } => {
                let by = match found_by {
                    Finder::Backend => "the backend, so the call was not sent",
                    Finder::Executor => "the executor",
                    Finder::Agent => "the agent",
                };
                self.line("broken", &format!("{clause} `{predicate}`, found by {by}"));
                self.line("says", message);
            }
            Happening::ToolResult {
                call_id,
                tool,
                status,
                text,
                ..
            } => {
                // A violation has its own lines, and results have paths and durations of this machine.
                let code = serde_json::from_str::<Value>(text).unwrap_or_default();
                let result = match (&**status, code["ended"]["code"].as_i64()) {
                    ("ok", Some(code)) => format!("{status:>9}  {tool}: exit code {code}"),
                    ("ok" | "violation", _) => format!("{status:>9}  {tool}"),
                    _ => format!("{status:>9}  {tool}: {}", shortened(text)),
                };
                for call in &mut self.open {
                    if call.0 == *call_id {
                        call.1 = Some(result.clone());
                    }
                }
                if self.open.iter().all(|(_, result)| result.is_some()) {
                    self.results();
                }
            }
            Happening::Retry { clause, attempt } => {
                let text = format!("attempt {attempt}; the model reads why: {clause}");
                self.line("again", &text);
            }
            Happening::Questions { questions } => {
                for one in questions {
                    let options = one.options.join(" / ");
                    self.line("asks", &format!("{} {options}", one.text));
                }
            }
            Happening::Diff { text, .. } => {
                self.line("changed", if text.is_empty() { "nothing" } else { "" });
                print!("{}", harmless(text));
            }
            Happening::Notice { text } => self.line("notice", text),
            Happening::Error { message } => self.line("error", message),
            // The answer was printed piece by piece, and the demo confirms no tool.
            _ => {}
        }
        Ok(())
    }

    fn results(&mut self) {
        for result in std::mem::take(&mut self.open) {
            if let Some(result) = result.1 {
                println!("{}", harmless(&result));
            }
        }
    }

    fn line(&mut self, word: &str, text: &str) {
        if std::mem::take(&mut self.is_inside) {
            println!();
        }
        println!("{}", harmless(format!("{word:>9}  {text}").trim_end()));
    }
}

/// Escapes what moves the cursor of a terminal, or turns the direction of the text that follows.
fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\t' => out.push(letter),
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                out.extend(letter.escape_unicode());
            }
            letter if letter.is_control() => out.extend(letter.escape_unicode()),
            letter => out.push(letter),
        }
    }
    out
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LINE) {
        Some((end, _)) => format!("{} ..", &text[..end]),
        None => text.to_owned(),
    }
}
