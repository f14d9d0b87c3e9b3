//! Tools, their descriptions and their hints.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{Report, conditions, input, output};
use crate::subsumption::equal;
use crate::{Manifest, ToolManifest};
use contract_runtime::Hints;

pub(super) fn compare(old: &Manifest, new: &Manifest, report: &mut Report) {
    if old.version != new.version {
        let reason = format!("is {}, and was {}", new.version, old.version);
        report.compatible("version", reason);
    }
    if old.rules != new.rules {
        let reason = format!("are written in {}, and were in {}", new.rules, old.rules);
        report.compatible("rules", reason);
    }
    unknown_fields(&old.other, &new.other, "", report);
    let names = old.tools.iter().chain(&new.tools).map(|tool| &tool.name);
    for name in names.collect::<BTreeSet<_>>() {
        report.tool.clone_from(name);
        match (old.tool(name), new.tool(name)) {
            (Some(old), Some(new)) => one(old, new, report),
            (Some(old), None) => report.breaking("", gone(old, new)),
            _ => report.compatible("", "is new"),
        }
    }
}

fn gone(tool: &ToolManifest, new: &Manifest) -> String {
    let alike = new.tools.iter().find(|other| {
        other.input_schema == tool.input_schema && other.description == tool.description
    });
    alike.map_or_else(
        || "is gone".to_owned(),
        |other| format!("is gone; `{}` looks the same", other.name),
    )
}

fn one(old: &ToolManifest, new: &ToolManifest, report: &mut Report) {
    text("title", old.title.as_ref(), new.title.as_ref(), report);
    text(
        "description",
        Some(&old.description),
        Some(&new.description),
        report,
    );
    if old.package != new.package {
        let reason = format!("is `{}`, and was `{}`", new.package, old.package);
        report.compatible("package", reason);
    }
    hints(old.hints, new.hints, report);
    timeout(old.timeout_ms, new.timeout_ms, report);
    match (old.confirms, new.confirms) {
        (false, true) => report.breaking("confirm", "a person is asked about every call now"),
        (true, false) => report.compatible("confirm", "nobody is asked about every call any more"),
        _ => {}
    }
    match (old.alone, new.alone) {
        (false, true) => report.breaking("alone", "is refused beside other calls of its turn now"),
        (true, false) => report.compatible("alone", "may stand beside other calls now"),
        _ => {}
    }
    match (old.coerce, new.coerce) {
        (false, true) => report.compatible("coerce", "corrects arguments of another type now"),
        (true, false) => report.breaking("coerce", "refuses arguments of another type now"),
        _ => {}
    }
    let judged = input::compare(&old.input_schema, &new.input_schema, report);
    output::compare(
        old.output_schema.as_ref(),
        new.output_schema.as_ref(),
        report,
    );
    conditions::compare(&old.conditions, &new.conditions, &judged, report);
    unknown_fields(&old.other, &new.other, "", report);
}

fn text(path: &str, old: Option<&String>, new: Option<&String>, report: &mut Report) {
    if old != new {
        report.compatible(path, "the text has changed");
    }
}

/// Whether each promise about effects is made; what is not said is not promised (Model Context Protocol, revision
/// 2025-11-25, tool annotations and their defaults).
fn promises(hints: Hints) -> [(&'static str, bool); 4] {
    let harmless = hints.read_only == Some(true);
    [
        ("read_only", harmless),
        // A tool that changes nothing keeps these two as well.
        ("destructive", harmless || hints.destructive == Some(false)),
        ("idempotent", harmless || hints.idempotent == Some(true)),
        ("open_world", hints.open_world == Some(false)),
    ]
}

fn hints(old: Hints, new: Hints, report: &mut Report) {
    if old == new {
        return;
    }
    let before = report.changes.len();
    for ((name, promised), (_, kept)) in promises(old).into_iter().zip(promises(new)) {
        let path = format!("hints/{name}");
        match (promised, kept) {
            (true, false) => report.breaking(path, lost(name)),
            (false, true) => report.compatible(path, "promises more"),
            _ => {}
        }
    }
    if report.changes.len() == before {
        report.compatible("hints", "promise the same");
    }
}

fn lost(hint: &str) -> &'static str {
    match hint {
        "read_only" => "it may change something now",
        "destructive" => "it may remove or overwrite something now",
        "idempotent" => "the same call again may have a further effect now",
        _ => "it may reach outside a closed world now",
    }
}

fn timeout(old: Option<u64>, new: Option<u64>, report: &mut Report) {
    let shown =
        |limit: Option<u64>| limit.map_or_else(|| "none".to_owned(), |ms| format!("{ms} ms"));
    if old == new {
        return;
    }
    let reason = format!("before: {}; now: {}", shown(old), shown(new));
    let shorter = match (old, new) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(old), Some(new)) => new < old,
    };
    if shorter {
        report.breaking("timeout", reason);
    } else {
        report.compatible("timeout", reason);
    }
}

/// Fields of a newer format: whether they matter is not known.
pub(super) fn unknown_fields(
    old: &Map<String, Value>,
    new: &Map<String, Value>,
    path: &str,
    report: &mut Report,
) {
    let names: BTreeSet<_> = old.keys().chain(new.keys()).collect();
    for name in names {
        let same = match (old.get(name), new.get(name)) {
            (Some(old), Some(new)) => equal(old, new),
            _ => false,
        };
        if !same {
            let separator = if path.is_empty() { "" } else { " " };
            let path = format!("{path}{separator}{name}");
            report.unproven(path, "a field that is not known here has changed");
        }
    }
}
