//! A run for people: colours and a spinner on a terminal only.

use std::io::{self, IsTerminal as _, Stderr, Stdout, Write};

use contract_agent::Event;
use contract_runtime::Status;

/// Writes events as they come.
pub(crate) struct Show<O = Stdout, E = Stderr> {
    out: O,
    error: E,
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
        let (out, error) = (io::stdout(), io::stderr());
        let terminal = out.is_terminal();
        Self {
            spinner: error.is_terminal() && terminal && !json,
            out,
            error,
            style: match (json, terminal) {
                (true, _) => Style::Json,
                (false, true) => Style::Coloured,
                (false, false) => Style::Plain,
            },
            frame: 0,
            inside: false,
        }
    }
}

impl<O: Write, E: Write> Show<O, E> {
    /// One turn of the spinner.
    pub(crate) fn wait(&mut self) -> io::Result<()> {
        if self.spinner && !self.inside {
            write!(self.error, "\r{} ", FRAMES[self.frame % FRAMES.len()])?;
            self.error.flush()?;
            self.frame += 1;
        }
        Ok(())
    }

    pub(crate) fn event(&mut self, event: &Event) -> io::Result<()> {
        self.still()?;
        if self.style == Style::Json {
            return writeln!(self.out, "{}", serde_json::to_string(event)?);
        }
        let line = match event {
            Event::TextDelta { text } => {
                self.inside = true;
                write!(self.out, "{}", harmless(text))?;
                return self.out.flush();
            }
            Event::Action { call } => {
                self.painted("36", "action", &format!("{} {}", call.name, call.arguments))
            }
            // The violation has been told; what the model reads of it besides are its own values.
            Event::Observation {
                status: Status::Violation,
                tool,
                ..
            } => self.painted("31", "refused", &format!("{tool}; see the violation above")),
            Event::Observation { status, text, .. } => {
                let colour = if *status == Status::Ok { "32" } else { "31" };
                self.painted(colour, status.name(), &shortened(text))
            }
            Event::ContractCheck { check } => self.painted("90", "check", &check.contract),
            Event::ContractViolation { violation } => {
                self.painted("33", "violation", &violation.to_string())
            }
            Event::Omitted {
                checks,
                violations,
                messages,
            } => {
                let more = format!(
                    "{checks} more checks, {violations} more violations, {messages} more messages"
                );
                self.painted("33", "omitted", &more)
            }
            Event::Log { level, message, .. } => self.painted("90", level.name(), message),
            Event::Retry { attempt, .. } => self.painted(
                "33",
                "retry",
                &format!("attempt {attempt}; the model reads the violation"),
            ),
            Event::LoopDetected { repeated, .. } => {
                self.painted("31", "loop", &format!("{repeated} times the same"))
            }
            Event::Answer { text } => self.painted("1", "answer", text),
            Event::Error { error } => self.painted("31", "error", &error.to_string()),
            _ => return Ok(()),
        };
        if std::mem::take(&mut self.inside) {
            writeln!(self.out)?;
        }
        writeln!(self.out, "{line}")
    }

    /// Takes the spinner away.
    pub(crate) fn still(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.frame) > 0 {
            write!(self.error, "\r  \r")?;
            self.error.flush()?;
        }
        Ok(())
    }

    fn painted(&self, colour: &str, word: &str, text: &str) -> String {
        let text = harmless(text);
        if self.style == Style::Coloured {
            format!("\x1b[{colour}m{word:>9}\x1b[0m  {text}")
        } else {
            format!("{word:>9}  {text}")
        }
    }
}

/// A text of a model without what moves the cursor of a terminal, or turns the direction of what follows.
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
    let mut characters = text.chars();
    let line: String = characters.by_ref().take(LINE).collect();
    if characters.next().is_some() {
        line + " .."
    } else {
        line
    }
}

#[cfg(test)]
mod tests {
    use contract_agent::Event;

    use super::{FRAMES, Show, Style};

    fn show(style: Style, spinner: bool) -> Show<Vec<u8>, Vec<u8>> {
        Show {
            out: Vec::new(),
            error: Vec::new(),
            style,
            spinner,
            frame: 0,
            inside: false,
        }
    }

    fn told(show: Show<Vec<u8>, Vec<u8>>) -> (String, String) {
        let text = |bytes| String::from_utf8(bytes).expect("it is text");
        (text(show.out), text(show.error))
    }

    fn delta(text: &str) -> Event {
        Event::TextDelta {
            text: text.to_owned(),
        }
    }

    fn answer(text: &str) -> Event {
        Event::Answer {
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_terminal_has_colours_and_a_file_has_none() {
        for (style, expected) in [
            (Style::Plain, "    answer  yes\n"),
            (Style::Coloured, "\x1b[1m   answer\x1b[0m  yes\n"),
            (Style::Json, "{\"type\":\"answer\",\"text\":\"yes\"}\n"),
        ] {
            let mut show = show(style, false);
            show.event(&answer("yes")).expect("it is written");
            assert_eq!(told(show).0.trim_start(), expected.trim_start());
        }
    }

    #[test]
    fn the_spinner_turns_while_nothing_is_said_and_is_taken_away() {
        let mut show = show(Style::Coloured, true);
        show.wait().expect("it is written");
        show.wait().expect("it is written");
        show.event(&delta("It is ")).expect("it is written");
        // In the middle of a line there is no place for it.
        show.wait().expect("it is written");
        show.event(&answer("five")).expect("it is written");
        show.wait().expect("it is written");
        show.still().expect("it is written");
        let [first, second, ..] = FRAMES;
        let expected = format!("\r{first} \r{second} \r  \r\r{first} \r  \r");
        let (out, error) = told(show);
        assert_eq!(error, expected);
        assert!(out.starts_with("It is \n"), "{out:?}");
    }

    #[test]
    fn without_a_terminal_there_is_no_spinner() {
        let mut show = show(Style::Plain, false);
        show.wait().expect("it is written");
        show.event(&answer("yes")).expect("it is written");
        assert_eq!(told(show).1, "");
    }

    #[test]
    fn what_a_model_says_moves_no_cursor() {
        let text = "a\x1b[2J\r\u{202e}\u{7}b\n\tc";
        let mut show = show(Style::Plain, false);
        show.event(&delta(text)).expect("it is written");
        show.event(&answer(text)).expect("it is written");
        let (out, _) = told(show);
        assert!(out.contains("b\n\tc"), "{out:?}");
        let moves = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
        assert!(!out.contains(moves) && !out.contains('\u{202e}'), "{out:?}");
    }
}
