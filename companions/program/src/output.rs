//! Output: results on standard output, remarks on standard error.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io::{self, IsTerminal as _, Write};
use std::process::ExitCode;

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use contract_runtime::LogRecord;
use serde::Serialize;

use super::{CommandError, exit, terminal_escape};

pub(super) const BOLD: Style = Style::new().bold();
pub(super) const FAINT: Style = Style::new().dimmed();
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
pub(super) const CAREFUL: Style = AnsiColor::Yellow.on_default().bold();
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();

/// Standard output for results, and standard error for everything else.
pub(super) struct Output {
    json: bool,
    /// Results.
    pub(super) out: Stream<io::Stdout>,
    /// Remarks and errors.
    pub(super) err: Stream<io::Stderr>,
}

/// One of the two streams.
pub(super) struct Stream<W> {
    inner: W,
    terminal: bool,
    colour: bool,
    /// The reader has closed the pipe, as in `list | head -1`.
    gone: bool,
}

impl Output {
    pub(super) fn new(json: bool) -> Self {
        let (out, err) = (io::stdout(), io::stderr());
        let coloured = |choice| choice != ColorChoice::Never;
        Self {
            json,
            out: Stream {
                terminal: out.is_terminal(),
                colour: coloured(AutoStream::choice(&out)),
                inner: out,
                gone: false,
            },
            err: Stream {
                terminal: err.is_terminal(),
                colour: coloured(AutoStream::choice(&err)),
                inner: err,
                gone: false,
            },
        }
    }

    /// Whether `--json` was given.
    pub(super) fn json(&self) -> bool {
        self.json
    }

    /// Writes a result as JSON.
    pub(super) fn data(&mut self, value: &impl Serialize) -> io::Result<()> {
        let text = serde_json::to_string_pretty(value)?;
        self.out.json(&text)
    }

    /// Writes text whose unindented lines are titles, each in its style.
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

    /// Writes a remark, which is not part of the result.
    pub(super) fn note(&mut self, style: Style, word: &str, text: &str) {
        let line = format!(
            "{}: {}\n",
            self.err.painted(style, word),
            self.err.safe(text)
        );
        let _ = self.err.write(&line);
    }

    /// Reports an error, and returns its exit code.
    pub(super) fn error(&mut self, error: &CommandError) -> ExitCode {
        if let CommandError::Usage(usage) = error
            && (!self.json || !usage.use_stderr())
        {
            // If it cannot be printed, there is nowhere to report that.
            let _ = usage.print();
            return ExitCode::from(if usage.use_stderr() {
                error.code()
            } else {
                exit::DONE
            });
        }
        if self.json {
            let _ = self.err.json(&format!("{:#}", error.json()));
        } else {
            self.note(BAD, "error", &error.to_string());
        }
        ExitCode::from(error.code())
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.quietly(io::Write::flush)
    }
}

impl<W: Write> Stream<W> {
    /// Whether it is a terminal.
    pub(super) fn terminal(&self) -> bool {
        self.terminal
    }

    /// Escapes `text` for a terminal; for a pipe it stays as it is.
    pub(super) fn safe<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.terminal {
            Cow::Owned(terminal_escape::text(text))
        } else {
            Cow::Borrowed(text)
        }
    }

    /// Escapes `text`, and adds a style if colours are wanted.
    pub(super) fn painted<'t>(&self, style: Style, text: &'t str) -> Cow<'t, str> {
        let text = self.safe(text);
        if self.colour {
            Cow::Owned(format!("{style}{text}{style:#}"))
        } else {
            text
        }
    }

    /// Writes text of a tool, with a line break if it has none.
    pub(super) fn text(&mut self, text: &str) -> io::Result<()> {
        let text = self.safe(text);
        self.write(&text)?;
        if text.is_empty() || text.ends_with('\n') {
            return Ok(());
        }
        self.write("\n")
    }

    /// Writes JSON text and a line break.
    pub(super) fn json(&mut self, text: &str) -> io::Result<()> {
        let text = text.trim_end();
        if self.terminal {
            self.write(&terminal_escape::json(text))?;
        } else {
            self.write(text)?;
        }
        self.write("\n")
    }

    /// Writes text that is already escaped.
    pub(super) fn write(&mut self, text: &str) -> io::Result<()> {
        self.quietly(|stream| stream.write_all(text.as_bytes()))
    }

    fn quietly(&mut self, act: impl FnOnce(&mut W) -> io::Result<()>) -> io::Result<()> {
        if self.gone {
            return Ok(());
        }
        match act(&mut self.inner) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.gone = true;
                Ok(())
            }
            done => done,
        }
    }
}

/// Returns whether errors should be JSON, although the words could not be parsed.
pub(super) fn asks_for_json(words: &[impl AsRef<OsStr>]) -> bool {
    let mut options = words
        .iter()
        .map(AsRef::as_ref)
        .take_while(|word| *word != "--");
    options.any(|word| word == "--json")
}

/// Writes a log message of a tool to standard error.
pub(super) fn log(record: &LogRecord) {
    let line = format!("{}: {}", record.level, record.message);
    // Further lines are indented, because what the program itself says begins a line.
    let line = terminal_escape::text(&line).replace('\n', "\n  ");
    // If standard error is closed, the record is dropped.
    let _ = writeln!(io::stderr(), "{line}");
}
