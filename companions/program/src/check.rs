//! `check`: lints the tools without calling any.

use contract_dialects::{ExportError, ExportProblem};
use contract_manifest::{Finding, FindingKind, Inspect as _};
use contract_runtime::Registry;
use serde_json::{Value, json};

use super::output::{BAD, CAREFUL, GOOD, Output};
use super::schema::{Format, format};
use super::{CommandError, exit};

#[derive(Debug, clap::Args)]
pub(super) struct Check {
    /// Check that the tools can be exported to this dialect; may be repeated. By default all but the strict ones are checked.
    #[arg(long = "for", value_name = "DIALECT", value_parser = format())]
    formats: Vec<Format>,
    /// Check the strict forms of these dialects too, with every tool strict, and fail on notes.
    #[arg(long)]
    strict: bool,
}

impl Check {
    pub(super) fn run(self, registry: &Registry, output: &mut Output) -> Result<u8, CommandError> {
        let findings = registry.lint();
        let exports: Vec<_> = self
            .selected_formats()
            .map(|format| {
                let exported = format.export(registry);
                (format.name(), exported.map(|(_, not_strict)| not_strict))
            })
            .collect();
        let accepted = exports.iter().all(|one| problems(one).is_empty());
        let sound = accepted && (findings.is_empty() || !self.strict);
        let tools = registry.tools().len();
        if output.json() {
            output.data(&json!({
                "ok": sound,
                "tools": tools,
                "findings": findings.iter().map(finding).collect::<Vec<_>>(),
                "exports": exports.iter().map(export).collect::<Vec<_>>(),
            }))?;
            return Ok(code(sound));
        }
        let findings = findings
            .iter()
            .map(|one| (CAREFUL, word(one.kind), one.to_string()));
        let refused = exports.iter().filter_map(|one| match &one.1 {
            Err(error) => Some((BAD, "export", error.to_string())),
            Ok(_) if problems(one).is_empty() => None,
            Ok(_) => Some((BAD, "not strict", not_strict(one))),
        });
        let plural = if tools == 1 { "" } else { "s" };
        let praise = (GOOD, "ok", format!("{tools} tool{plural}"));
        let praise = sound.then_some(praise);
        for (style, word, text) in findings.chain(refused).chain(praise) {
            let word = output.out.painted(style, word);
            let line = format!("{word}: {}\n", output.out.safe(&text));
            output.out.write(&line)?;
        }
        Ok(code(sound))
    }

    /// Without repetitions, in the order of the list of all.
    fn selected_formats(&self) -> impl Iterator<Item = Format> {
        let named = match self.formats.as_slice() {
            [] => Format::all()
                .filter(|one| !one.name().ends_with("-strict"))
                .collect(),
            named => named.to_vec(),
        };
        let strict = named.iter().filter(|_| self.strict);
        let strict: Vec<_> = strict.filter_map(|one| one.strict().ok()).collect();
        let asked = move |one: &Format| named.contains(one) || strict.contains(one);
        Format::all().filter(asked)
    }
}

const fn word(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Unexplained => "unexplained",
        FindingKind::NotShown => "not shown",
        FindingKind::Undescribed => "undescribed",
        FindingKind::Referenced => "referenced",
        FindingKind::Unreadable => "unreadable",
        _ => "superfluous",
    }
}

const fn code(sound: bool) -> u8 {
    if sound { exit::DONE } else { exit::FAILED }
}

pub(super) fn finding(finding: &Finding) -> Value {
    json!({
        "tool": finding.tool,
        "subject": finding.subject,
        "kind": finding.kind,
        "message": finding.message,
        "location": finding.location,
    })
}

/// The name of a format, and why tools are not strict in it.
type Exported = (&'static str, Result<Vec<ExportProblem>, ExportError>);

/// Why tools are not in it as they should be.
fn problems((_, export): &Exported) -> &[ExportProblem] {
    match export {
        Ok(not_strict) => not_strict,
        Err(error) => error.problems(),
    }
}

fn not_strict(exported: &Exported) -> String {
    let problems = problems(exported).iter().map(ToString::to_string);
    let problems: Vec<_> = problems.collect();
    let problems = problems.join("\n  - ");
    format!(
        "tools are exported to `{}` without `strict`:\n  - {problems}",
        exported.0
    )
}

fn export(exported: &Exported) -> Value {
    let problems = problems(exported);
    json!({
        "dialect": exported.0,
        "ok": problems.is_empty(),
        "problems": problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}
