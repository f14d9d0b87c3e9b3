//! What `OpenAI` limits, in one strict schema and over all of one request.

use contract_dialects::{ExportProblem, StrictDialect};
use contract_runtime::DynamicSpec;
use contract_runtime::prelude::*;
use serde_json::{Map, Value, json};

use super::export;

const STRICT: StrictDialect = StrictDialect::OpenAiResponses;

fn tool(index: usize, properties: &Value) -> Tool {
    let names: Vec<_> = properties.as_object().unwrap().keys().collect();
    let schema = json!({
        "type": "object", "properties": properties, "required": names, "additionalProperties": false,
    });
    let spec = DynamicSpec::new(format!("tool_{index}"), "Take it.").input_schema(schema);
    Tool::dynamic(spec, |_| async { Ok::<_, String>(Content::text("")) })
}

fn registry(tools: &[Value]) -> Registry {
    let tools = tools.iter().enumerate();
    let tools: Vec<_> = tools
        .map(|(index, properties)| tool(index, properties))
        .collect();
    Registry::builder().with(tools).build().unwrap()
}

fn choice(values: usize, length: usize) -> Value {
    let values: Vec<_> = (0..values)
        .map(|value| format!("{value:0length$}"))
        .collect();
    json!({"v": {"type": "string", "enum": values}})
}

#[test]
fn totals_are_of_all_tools_together() {
    let of = |counts: &[usize]| {
        let tools: Vec<_> = counts.iter().map(|count| choice(*count, 4)).collect();
        registry(&tools)
    };
    assert!(export(&of(&[400, 600]), STRICT).is_ok());
    let error = export(&of(&[400, 1, 600]), STRICT).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the tools cannot be exported to `openai-responses-strict`:\n  - 1001 values in enums, and one request may hold \
         1000; most are in `tool_2` (600), `tool_0` (400), `tool_1` (1); export fewer tools at once, or make these smaller"
    );
}

#[test]
fn properties_and_characters_are_counted() {
    let wide = |count: usize, length: usize| -> Value {
        let names = (0..count).map(|index| format!("{index:0length$}"));
        names
            .map(|name| (name, json!({"type": "string"})))
            .collect::<Map<_, _>>()
            .into()
    };
    assert!(export(&registry(&[wide(2_500, 5), wide(2_500, 5)]), STRICT).is_ok());
    assert!(export(&registry(&[wide(1_000, 60), wide(1_000, 60)]), STRICT).is_ok());
    for (tools, what, found, limit) in [
        ([wide(2_500, 5), wide(2_501, 5)], "properties", 5_001, 5_000),
        (
            [wide(1_999, 60), choice(1, 60)],
            "characters in names, definitions and enums",
            120_001,
            120_000,
        ),
    ] {
        let error = export(&registry(&tools), STRICT).unwrap_err();
        let [
            ExportProblem::Total {
                what: of,
                found: count,
                limit: most,
                ..
            },
        ] = error.problems()
        else {
            panic!("{error}");
        };
        assert_eq!((*of, *count, *most), (what, found, limit));
    }
}

#[test]
fn a_long_enum_has_short_values() {
    assert!(export(&registry(&[choice(250, 100)]), STRICT).is_ok());
    assert!(export(&registry(&[choice(300, 50)]), STRICT).is_ok());
    let registry = registry(&[choice(300, 51)]);
    let (_, problems) = export(&registry, STRICT).unwrap();
    let [ExportProblem::Limit { found, limit, .. }] = &problems[..] else {
        panic!("{problems:?}");
    };
    assert_eq!((*found, *limit), (15_300, 15_000));
}

#[test]
fn ten_levels_are_the_deepest() {
    let nested = |levels: usize| {
        let inner = (1..levels).fold(json!({"type": "string"}), |inner, level| {
            if level % 2 == 0 {
                json!({"type": "array", "items": inner})
            } else {
                json!({
                    "type": "object", "properties": {"v": inner}, "required": ["v"], "additionalProperties": false,
                })
            }
        });
        json!({"v": inner})
    };
    assert!(export(&registry(&[nested(10)]), STRICT).is_ok());
    let registry = registry(&[nested(11)]);
    let (tools, not_strict) = export(&registry, STRICT).unwrap();
    assert_eq!(tools[0]["strict"], false);
    assert_eq!(
        not_strict[0].to_string(),
        "`tool_0`: 11 objects and lists inside each other, and there may be 10; make the types flatter"
    );
}
