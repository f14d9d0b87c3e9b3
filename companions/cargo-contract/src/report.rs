//! The report: on standard output, and as GitHub shows it.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::process::ExitCode;

use super::workspace::Crate;

/// What came of one crate.
pub(crate) struct Verdict {
    pub(crate) ok: bool,
    pub(crate) text: String,
}

/// What came of all of them.
pub(crate) struct Report {
    command: &'static str,
    /// A crate that is left out is a failure.
    strict: bool,
    /// The name of each crate, and its verdict; none where it was left out.
    rows: Vec<(String, Option<bool>, String)>,
}

impl Report {
    pub(crate) const fn new(command: &'static str, strict: bool) -> Self {
        Self {
            command,
            strict,
            rows: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, one: &Crate, verdict: Verdict) {
        self.rows
            .push((one.name.clone(), Some(verdict.ok), verdict.text));
    }

    pub(crate) fn leave_out(&mut self, name: &str, reason: &str) {
        let ok = self.strict.then_some(false);
        let how = if self.strict { "left out: " } else { "" };
        self.rows
            .push((name.to_owned(), ok, format!("{how}{reason}")));
    }

    /// Prints it, adds it to the summary of a GitHub job, and says whether all is well.
    pub(crate) fn finish(self) -> ExitCode {
        print!("{}", self.text());
        if std::env::var_os("GITHUB_ACTIONS").is_some() {
            print!("{}", self.annotations());
        }
        let summary = std::env::var_os("GITHUB_STEP_SUMMARY").map(|path| {
            let file = OpenOptions::new().create(true).append(true).open(path);
            file.and_then(|mut file| file.write_all(self.markdown().as_bytes()))
        });
        if let Some(Err(error)) = summary {
            eprintln!("warning: the summary of the job cannot be written: {error}");
        }
        ExitCode::from(self.code())
    }

    /// It fails where nothing was looked at, too.
    fn code(&self) -> u8 {
        let judged = self.rows.iter().filter_map(|(_, ok, _)| *ok);
        let (all, failed) = judged.fold((0, 0), |(all, failed), ok| {
            (all + 1, failed + u32::from(!ok))
        });
        u8::from(all == 0 || failed > 0)
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (name, ok, said) in &self.rows {
            let _ = writeln!(text, "{name}: {}", word(*ok));
            for line in said.trim_end().lines() {
                let _ = writeln!(text, "  {line}");
            }
        }
        if self.rows.iter().all(|(_, ok, _)| ok.is_none()) {
            text.push_str("no crate has tools, so nothing was looked at\n");
        }
        text
    }

    /// One line for each crate that failed, which GitHub shows beside the change.
    fn annotations(&self) -> String {
        let failed = self.rows.iter().filter(|(_, ok, _)| *ok == Some(false));
        failed.fold(String::new(), |mut text, (name, _, said)| {
            let said = said.trim_end().replace('%', "%25").replace('\n', "%0A");
            let _ = writeln!(
                text,
                "::error title=cargo contract {}, {name}::{said}",
                self.command
            );
            text
        })
    }

    fn markdown(&self) -> String {
        let mut text = format!("### cargo contract {}\n\n", self.command);
        for (name, ok, said) in &self.rows {
            // Longer than any fence in it.
            let fence = "`".repeat(3.max(longest_fence(said) + 1));
            let _ = writeln!(
                text,
                "**{name}**: {}\n\n{fence}text\n{}\n{fence}\n",
                word(*ok),
                said.trim_end()
            );
        }
        text
    }
}

fn longest_fence(text: &str) -> usize {
    let runs = text.split(|letter| letter != '`').map(str::len);
    runs.max().unwrap_or_default()
}

const fn word(ok: Option<bool>) -> &'static str {
    match ok {
        Some(true) => "ok",
        Some(false) => "failed",
        None => "left out",
    }
}

#[cfg(test)]
mod tests {
    use super::Report;

    #[test]
    fn what_was_left_out_is_in_the_report_and_nothing_else_is_no_success() {
        let mut strict = Report::new("check", true);
        strict.leave_out("b", "it is a program");
        assert_eq!(strict.text(), "b: failed\n  left out: it is a program\n");
        assert_eq!(strict.code(), 1);
        let mut report = Report::new("check", false);
        report.leave_out("b", "it is a program");
        assert_eq!(report.code(), 1);
        assert!(report.text().ends_with("nothing was looked at\n"));
        report
            .rows
            .push(("a".to_owned(), Some(true), "ok: 2 tools\n".to_owned()));
        assert_eq!(
            report.text(),
            "b: left out\n  it is a program\na: ok\n  ok: 2 tools\n"
        );
        assert_eq!(report.code(), 0);
        report
            .rows
            .push(("c".to_owned(), Some(false), "```\n100% wrong".to_owned()));
        assert_eq!(report.code(), 1);
        assert_eq!(
            report.annotations(),
            "::error title=cargo contract check, c::```%0A100%25 wrong\n"
        );
        assert!(
            report
                .markdown()
                .contains("**c**: failed\n\n````text\n```\n"),
            "{}",
            report.markdown()
        );
    }
}
