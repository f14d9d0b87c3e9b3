//! A run for people: colours and a spinner on a terminal only.

use std::io::{self, IsTerminal as _, Write as _};

use contract_runtime::Status;
use contract_runtime::agent::Event;

pub(crate) struct Show {
    style: Style,
    spinner: bool,
    frame: usize,
    /// The cursor stands behind a piece of text.
    inside: bool,
}

/// How events are written.
#[derive(PartialEq)]
enum Style {
    Plain,
    Coloured,
    Json,
}

const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// The longest line of an observation, in characters.
const LINE: usize = 200;

impl Show {
    pub(crate) fn new(json: bool) -> Self {
        let terminal = io::stdout().is_terminal();
        Self {
            style: match (json, terminal) {
                (true, _) => Style::Json,
                (false, true) => Style::Coloured,
                (false, false) => Style::Plain,
            },
            spinner: io::stderr().is_terminal() && terminal && !json,
            frame: 0,
            inside: false,
        }
    }

    /// One turn of the spinner.
    pub(crate) fn wait(&mut self) {
        if self.spinner && !self.inside {
            eprint!("\r{} ", FRAMES[self.frame % FRAMES.len()]);
            self.frame += 1;
        }
    }

    pub(crate) fn event(&mut self, event: &Event) -> io::Result<()> {
        if self.spinner && self.frame > 0 && !self.inside {
            eprint!("\r  \r");
            self.frame = 0;
        }
        if self.style == Style::Json {
            return writeln!(io::stdout(), "{}", serde_json::to_string(event)?);
        }
        let line = match event {
            Event::TextDelta { text } => {
                self.inside = true;
                print!("{text}");
                return io::stdout().flush();
            }
            Event::Action { call } => {
                self.painted("36", "action", &format!("{} {}", call.name, call.arguments))
            }
            Event::Observation { status, text, .. } => {
                let colour = if *status == Status::Ok { "32" } else { "31" };
                self.painted(colour, status.name(), &shortened(text))
            }
            Event::ContractCheck { check } => self.painted("90", "check", &check.contract),
            Event::ContractViolation { violation } => {
                self.painted("33", "violation", &violation.to_string())
            }
            Event::Retry { attempt, .. } => {
                self.painted("33", "retry", &format!("the model is told; try {attempt}"))
            }
            Event::LoopDetected { repeated, .. } => {
                self.painted("31", "loop", &format!("{repeated} times the same"))
            }
            Event::Answer { text } => self.painted("1", "answer", text),
            Event::Error { error } => self.painted("31", "error", &error.to_string()),
            _ => return Ok(()),
        };
        if std::mem::take(&mut self.inside) {
            println!();
        }
        writeln!(io::stdout(), "{line}")
    }

    fn painted(&self, colour: &str, word: &str, text: &str) -> String {
        if self.style == Style::Coloured {
            format!("\x1b[{colour}m{word:>9}\x1b[0m  {text}")
        } else {
            format!("{word:>9}  {text}")
        }
    }
}

fn shortened(text: &str) -> String {
    let mut characters = text.chars();
    let line: String = characters.by_ref().take(LINE).collect();
    if characters.next().is_some() {
        line + " .."
    } else {
        line
    }
}
