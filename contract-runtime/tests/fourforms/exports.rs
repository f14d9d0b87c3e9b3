//! The plain listings: an export is made once.

#![allow(
    clippy::manual_is_multiple_of,
    reason = "predicates are tried in every spelling"
)]

use contract_manifest::Inspect as _;
use contract_runtime::Dialect;
use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Half a number.
#[tool]
#[pre(number % 2 == 0)]
#[post(|half| *half <= 55, "more than 55")]
fn half(number: u8) -> u8 {
    number / 2
}

/// Open a door.
#[tool]
#[pre(!door.trim().is_empty(), "the name of the door is empty")]
#[pre(door.to_lowercase() == door)]
#[pre(from != to, "it leads to where it begins")]
#[pre(from % 2 == 0, "it begins at an odd place")]
#[post(|open| open.trim().len() > 3, "the door stayed shut")]
fn open(door: String, from: u8, to: u8) -> String {
    format!("{door} {from} {to}")
}

#[test]
fn what_is_explained_quotes_each_message() {
    let registry = Registry::builder().tool(open).build().unwrap();
    let text = registry.explain("open").unwrap();
    for line in [
        r#"    requires `!door.trim().is_empty()`, else "the name of the door is empty", policy enforce"#,
        r#"    promises `|open| open.trim().len() > 3`, else "the door stayed shut", policy enforce"#,
        r#"    in the schema in part, and below `Possible refusals:`: "the name of the door is empty""#,
        "    not shown: `door.to_lowercase() == door`",
        "    below `Requires:`: `from != to`",
        "    in the schema: `from % 2 == 0`",
        "    not shown: `|open| open.trim().len() > 3`",
    ] {
        assert!(text.lines().any(|one| one == line), "{line}\n{text}");
    }
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is wanted")]
struct Sum {
    cents: u64,
    share: i64,
}

/// Pay.
#[tool]
fn pay(sum: Sum) -> u64 {
    sum.cents
}

#[test]
fn the_ends_of_a_64_bit_type_stay_out_of_an_inlined_definition() {
    let registry = Registry::builder().tool(pay).build().unwrap();
    let tools = registry.export(Dialect::OpenAiChat);
    let sum = &tools[0]["function"]["parameters"]["properties"]["sum"];
    assert_eq!(
        sum["properties"],
        json!({"cents": {"type": "integer", "minimum": 0}, "share": {"type": "integer"}})
    );
}

#[test]
fn an_export_is_made_once_for_all_clones() {
    let registry = Registry::builder().tool(half).build().unwrap();
    for dialect in Dialect::ALL {
        let first = registry.export(dialect);
        let again = registry.clone();
        assert!(std::ptr::eq(first, again.export(dialect)));
    }
    let neutral = registry.export(Dialect::Neutral);
    assert_ne!(neutral, registry.export(Dialect::OpenAiChat));
}

#[test]
fn every_dialect_has_a_name_of_its_own_that_reads_back() {
    for dialect in Dialect::ALL {
        assert_eq!(dialect.to_string().parse(), Ok(dialect));
        let same = Dialect::ALL
            .iter()
            .filter(|one| one.name() == dialect.name());
        assert_eq!(same.count(), 1);
    }
    let error = "openai".parse::<Dialect>().unwrap_err().to_string();
    assert!(
        error.starts_with("unknown dialect `openai`; write one of `openai-chat`, "),
        "{error}"
    );
}

#[test]
fn an_empty_registry_is_an_empty_list() {
    let registry = Registry::builder().build().unwrap();
    for dialect in Dialect::ALL {
        let export = registry.export(dialect);
        assert_eq!(export, &json!([]), "{dialect}");
    }
}

#[test]
fn the_neutral_list_is_plain_json_schema() {
    let registry = Registry::builder().tool(half).build().unwrap();
    let export = registry.export(Dialect::Neutral);
    assert_eq!(
        *export,
        json!([{
            "name": "half",
            "description": "Half a number.\n\nEnsures:\n- `result <= 55`",
            "parameters": registry.tool("half").unwrap().input_schema(),
            "output": registry.tool("half").unwrap().output_schema(),
        }])
    );
}
