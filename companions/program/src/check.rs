//! `check`: lints the tools without calling any.

use contract_manifest::{Finding, FindingKind, Inspect as _};
use contract_runtime::{Dialect, Export, ExportError, ExportProblem, Registry};
use serde_json::{Value, json};

use super::output::{BAD, CAREFUL, GOOD, Output};
use super::schema::{dialect, strict_form};
use super::{CommandError, exit};

#[derive(Debug, clap::Args)]
pub(super) struct Check {
    /// Check that the tools can be exported to this dialect; may be repeated. By default all but the strict ones are checked.
    #[arg(long = "for", value_name = "DIALECT", value_parser = dialect())]
    dialects: Vec<Dialect>,
    /// Check the strict forms of these dialects too, with every tool strict, and fail on notes.
    #[arg(long)]
    strict: bool,
}

impl Check {
    pub(super) fn run(self, registry: &Registry, output: &mut Output) -> Result<u8, CommandError> {
        let findings = registry.lint();
        let exports: Vec<_> = self
            .selected_dialects()
            .map(|dialect| (dialect, registry.export(dialect)))
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
    fn selected_dialects(&self) -> impl Iterator<Item = Dialect> {
        let named = match self.dialects.as_slice() {
            [] => Dialect::ALL
                .into_iter()
                .filter(|one| !one.name().ends_with("-strict"))
                .collect(),
            named => named.to_vec(),
        };
        let strict = named.iter().filter(|_| self.strict);
        let strict: Vec<_> = strict.filter_map(|one| strict_form(*one).ok()).collect();
        let asked = move |one: &Dialect| named.contains(one) || strict.contains(one);
        Dialect::ALL.into_iter().filter(asked)
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

/// A dialect, and the tools in it.
type Exported<'r> = (Dialect, Result<&'r Export, ExportError>);

/// Why tools are not in it as they should be.
fn problems<'e>((_, export): &'e Exported<'_>) -> &'e [ExportProblem] {
    match export {
        Ok(export) => export.not_strict(),
        Err(error) => error.problems(),
    }
}

fn not_strict(exported: &Exported<'_>) -> String {
    let problems = problems(exported).iter().map(ToString::to_string);
    let problems: Vec<_> = problems.collect();
    let problems = problems.join("\n  - ");
    format!(
        "tools are exported to `{}` without `strict`:\n  - {problems}",
        exported.0
    )
}

fn export(exported: &Exported<'_>) -> Value {
    let problems = problems(exported);
    json!({
        "dialect": exported.0.name(),
        "ok": problems.is_empty(),
        "problems": problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}
