//! Strings with a format are refused together with everything else, and with an example.

use std::net::Ipv4Addr;

use contract_dialects::{StrictDialect, StrictExport as _};
use contract_runtime::prelude::*;
use contract_runtime::{Dialect, McpRevision, ProblemKind};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

use crate::common::{call, output};

/// An instant as libraries of time have it: of the form of its format, and more liberal than that.
struct Instant(String);

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "now" || (text.starts_with("20") && text.contains('T')) {
            return Ok(Self(text));
        }
        Err(de::Error::custom("input contains invalid characters"))
    }
}

impl JsonSchema for Instant {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Instant".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date-time"})
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Source {
    address: Ipv4Addr,
    backup: Option<Ipv4Addr>,
}

/// Read a log.
#[tool]
fn read_log(since: Instant, until: Option<Instant>, source: Source, lines: u8) -> String {
    let until = until.map_or_else(String::new, |until| until.0);
    format!(
        "{} {until} {} {:?} {lines}",
        since.0, source.address, source.backup
    )
}

fn registry() -> Registry {
    Registry::builder().tool(read_log).build().unwrap()
}

#[test]
fn all_that_is_wrong_is_said_at_once_with_an_example_of_each_format() {
    let arguments =
        r#"{"since":"tomorrow","until":"next week","source":{"address":"localhost"},"lines":300}"#;
    let outcome = call(&registry(), "read_log", arguments);
    let mut lines: Vec<_> = outcome
        .error()
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "- `/lines`: expected an integer from 0 to 255, got the number 300",
            "- `/since`: expected a date and time such as 2024-02-29T12:00:00Z, got the string \"tomorrow\"",
            "- `/source/address`: expected an IPv4 address such as 192.0.2.1, got the string \"localhost\"",
            "- `/until`: expected a date and time such as 2024-02-29T12:00:00Z or null, got the string \"next week\"",
            "4 problems:",
        ]
    );
}

#[test]
fn a_type_that_stops_at_its_first_mistake_does_not_hide_the_others() {
    let arguments =
        r#"{"since":"tomorrow","source":{"address":"192.0.2.1","backup":"none"},"lines":3}"#;
    let outcome = call(&registry(), "read_log", arguments);
    let invalid = outcome.invalid_arguments().unwrap();
    assert_eq!(invalid.total(), 2, "{invalid}");
    for (problem, pointer) in invalid.problems().iter().zip(["/since", "/source/backup"]) {
        assert_eq!(problem.kind, ProblemKind::Format, "{invalid}");
        assert_eq!(problem.pointer, pointer);
    }
}

#[test]
fn a_type_accepts_more_than_its_format_and_less() {
    let arguments = |since: &str, lines: &str| {
        format!(r#"{{"since":"{since}","source":{{"address":"192.0.2.1"}},"lines":{lines}}}"#)
    };
    let registry = registry();
    // Also where the arguments have to be put right.
    for lines in ["3", "3.0"] {
        let said = output(&registry, "read_log", &arguments("now", lines));
        assert_eq!(said, "now  192.0.2.1 None 3");
    }
    let refused = call(
        &registry,
        "read_log",
        &arguments("1999-12-31T12:00:00Z", "3"),
    );
    assert_eq!(
        refused.error().unwrap(),
        "`/since`: expected a value its type accepts, got a value it refuses: input contains invalid characters"
    );
}

/// Shift a number.
#[tool]
fn shift(number: i64, by: u64, at_most: u8) -> i64 {
    number.saturating_add_unsigned(by).min(at_most.into())
}

#[test]
fn the_ends_of_64_bits_are_enforced_and_no_model_reads_them() {
    let registry = Registry::builder().tool(shift).build().unwrap();
    let plain = Dialect::ALL.into_iter();
    let plain = plain.filter(|dialect| *dialect != Dialect::Neutral);
    let plain = plain.map(|dialect| registry.export(dialect).to_string());
    let strict = StrictDialect::ALL.into_iter();
    let strict = strict.map(|dialect| registry.export_strict(dialect).unwrap().tools.to_string());
    for text in plain.chain(strict) {
        for end in [i64::MAX.to_string(), u64::MAX.to_string()] {
            assert!(!text.contains(&end), "{text}");
        }
    }
    let mcp = registry.export(Dialect::Mcp(McpRevision::July2026));
    let schema = &mcp[0]["inputSchema"]["properties"];
    assert_eq!(schema["by"]["minimum"], 0);
    assert_eq!(schema["at_most"]["maximum"], 255);
    let beyond = r#"{"number":9223372036854775808,"by":1,"at_most":3}"#;
    assert_eq!(
        call(&registry, "shift", beyond).error().unwrap(),
        "`/number`: expected a 64-bit integer, got the number 9223372036854775808"
    );
}
