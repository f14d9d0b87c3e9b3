use serde_json::{Value, json};

use super::schema::{dialect, strict_form};
use super::screen::{BAD, CAREFUL, GOOD, Screen};
use super::{Fault, exit};
use crate::{Dialect, ExportError, Finding, FindingKind, Registry};

#[derive(Debug, clap::Args)]
pub(super) struct Check {
    /// Can the tools be exported to this dialect? Once for each; all but the strict ones where none is named.
    #[arg(long = "for", value_name = "DIALECT", value_parser = dialect())]
    dialects: Vec<Dialect>,
    /// And to the strict forms of these?
    #[arg(long)]
    strict: bool,
}

impl Check {
    pub(super) fn run(self, registry: &Registry, screen: &mut Screen) -> Result<u8, Fault> {
        let findings = registry.lint();
        let exports: Vec<_> = self
            .asked()
            .map(|dialect| (dialect, registry.export(dialect).err()))
            .collect();
        let sound = findings.is_empty() && exports.iter().all(|(_, error)| error.is_none());
        let tools = registry.tools().len();
        if screen.json() {
            screen.data(&json!({
                "ok": sound,
                "tools": tools,
                "findings": findings.iter().map(finding).collect::<Vec<_>>(),
                "exports": exports.iter().map(export).collect::<Vec<_>>(),
            }))?;
            return Ok(code(sound));
        }
        let findings = findings
            .iter()
            .map(|one| (CAREFUL, "superfluous", one.to_string()));
        let refused = exports.iter().filter_map(|(_, error)| error.as_ref());
        let refused = refused.map(|error| (BAD, "export", error.to_string()));
        let plural = if tools == 1 { "" } else { "s" };
        let praise = (GOOD, "ok", format!("{tools} tool{plural}"));
        let praise = sound.then_some(praise);
        for (style, word, text) in findings.chain(refused).chain(praise) {
            let word = screen.out.painted(style, word);
            let line = format!("{word}: {}\n", screen.out.safe(&text));
            screen.out.write(&line)?;
        }
        Ok(code(sound))
    }

    /// Without repetitions, in the order of the list of all.
    fn asked(&self) -> impl Iterator<Item = Dialect> {
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

const fn code(sound: bool) -> u8 {
    if sound { exit::DONE } else { exit::FAILED }
}

pub(super) fn finding(finding: &Finding) -> Value {
    json!({
        "tool": finding.tool,
        "condition": finding.condition,
        "kind": match finding.kind {
            FindingKind::AlwaysTrue => "always_true",
            FindingKind::Implied => "implied",
        },
        "message": finding.message,
        "location": finding.location,
    })
}

fn export((dialect, error): &(Dialect, Option<ExportError>)) -> Value {
    let problems = error.as_ref().map_or(&[][..], ExportError::problems);
    json!({
        "dialect": dialect.name(),
        "ok": error.is_none(),
        "problems": problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}
