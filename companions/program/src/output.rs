use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write};
use std::process::ExitCode;

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use serde::Serialize;

use super::{Fault, inert};

pub(super) const BOLD: Style = Style::new().bold();
pub(super) const FAINT: Style = Style::new().dimmed();
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
pub(super) const CAREFUL: Style = AnsiColor::Yellow.on_default().bold();
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();

/// Where results go, and where everything else goes.
pub(super) struct Screen {
    json: bool,
    /// Results.
    pub(super) out: Side<io::Stdout>,
    /// What is said of them.
    pub(super) err: Side<io::Stderr>,
}

/// One of the two outputs.
pub(super) struct Side<W> {
    stream: W,
    terminal: bool,
    colour: bool,
    /// The reader has gone, as in `list | head -1`.
    gone: bool,
}

impl Screen {
    pub(super) fn new(json: bool) -> Self {
        let (out, err) = (io::stdout(), io::stderr());
        let coloured = |choice| choice != ColorChoice::Never;
        Self {
            json,
            out: Side {
                terminal: out.is_terminal(),
                colour: coloured(AutoStream::choice(&out)),
                stream: out,
                gone: false,
            },
            err: Side {
                terminal: err.is_terminal(),
                colour: coloured(AutoStream::choice(&err)),
                stream: err,
                gone: false,
            },
        }
    }

    /// Whether results are wanted as JSON.
    pub(super) fn json(&self) -> bool {
        self.json
    }

    /// A result as JSON.
    pub(super) fn data(&mut self, value: &impl Serialize) -> io::Result<()> {
        let text = serde_json::to_string_pretty(value)?;
        self.out.json(&text)
    }

    /// Text whose lines at the margin are titles, each in its style.
    pub(super) fn titled(&mut self, text: &str, style: fn(&str) -> Style) -> io::Result<()> {
        let mut shown = String::with_capacity(text.len());
        for line in text.lines() {
            let line = if line.is_empty() || line.starts_with(' ') {
                self.out.safe(line)
            } else {
                self.out.painted(style(line), line)
            };
            shown.push_str(&line);
            shown.push('\n');
        }
        self.out.write(&shown)
    }

    /// A remark beside the result; whoever does not read it misses nothing.
    pub(super) fn note(&mut self, style: Style, word: &str, text: &str) {
        let line = format!(
            "{}: {}\n",
            self.err.painted(style, word),
            self.err.safe(text)
        );
        let _ = self.err.write(&line);
    }

    /// Says what went wrong, and gives the exit code for it.
    pub(super) fn fault(&mut self, fault: &Fault) -> ExitCode {
        if self.json {
            let _ = self.err.json(&format!("{:#}", fault.json()));
        } else {
            self.note(BAD, "error", &fault.to_string());
        }
        ExitCode::from(fault.code())
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.quietly(io::Write::flush)
    }
}

impl<W: Write> Side<W> {
    /// Whether a person reads it.
    pub(super) fn terminal(&self) -> bool {
        self.terminal
    }

    /// `text` as it may be shown here: to a pipe as it is, to a terminal without effects.
    pub(super) fn safe<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.terminal {
            Cow::Owned(inert::text(text))
        } else {
            Cow::Borrowed(text)
        }
    }

    /// `text` as it may be shown here, in a style if colours are wanted.
    pub(super) fn painted<'t>(&self, style: Style, text: &'t str) -> Cow<'t, str> {
        let text = self.safe(text);
        if self.colour {
            Cow::Owned(format!("{style}{text}{style:#}"))
        } else {
            text
        }
    }

    /// Text of a tool, with a line end if it has none.
    pub(super) fn text(&mut self, text: &str) -> io::Result<()> {
        let text = self.safe(text);
        self.write(&text)?;
        if text.is_empty() || text.ends_with('\n') {
            return Ok(());
        }
        self.write("\n")
    }

    /// A JSON text and a line end.
    pub(super) fn json(&mut self, text: &str) -> io::Result<()> {
        let text = text.trim_end();
        if self.terminal {
            self.write(&inert::json(text))?;
        } else {
            self.write(text)?;
        }
        self.write("\n")
    }

    /// What was made safe already.
    pub(super) fn write(&mut self, text: &str) -> io::Result<()> {
        self.quietly(|stream| stream.write_all(text.as_bytes()))
    }

    fn quietly(&mut self, act: impl FnOnce(&mut W) -> io::Result<()>) -> io::Result<()> {
        if self.gone {
            return Ok(());
        }
        match act(&mut self.stream) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.gone = true;
                Ok(())
            }
            done => done,
        }
    }
}
