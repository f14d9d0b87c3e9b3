//! What Anthropic's API is given, and what it is not.

use std::collections::BTreeMap;

use contract_dialects::{ExportProblem, StrictDialect};
use contract_runtime::prelude::*;
use contract_runtime::{Dialect, DynamicSpec, ToolFunction};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::judges_tools::registry;
use super::{AnyDialect, export, tools};

const PLAIN: AnyDialect = AnyDialect::Plain(Dialect::Anthropic);
const STRICT: AnyDialect = AnyDialect::Strict(StrictDialect::Anthropic);

/// Reserve seats.
#[tool]
#[pre(seats > 0 && seats <= 8)]
#[pre(row.starts_with('r'))]
#[pre(seats != 4 || row != "r4", "row r4 has no four seats")]
fn reserve(
    /// How many.
    seats: u32,
    row: String,
    #[arg(default = 2)] class: u8,
    names: Vec<String>,
) -> String {
    format!("{seats}{row}{class}{names:?}")
}

fn with<S>(tool: impl ToolFunction<S>) -> Registry {
    Registry::builder().tool(tool).build().unwrap()
}

fn one<S>(tool: impl ToolFunction<S>, dialect: AnyDialect) -> Value {
    tools(&with(tool), dialect)[0].clone()
}

fn by_hand(spec: DynamicSpec) -> Tool {
    Tool::dynamic(spec, |_| async { Ok::<_, String>(Content::text("")) })
}

fn described(input: Value, dialect: AnyDialect) -> Result<Value, Vec<ExportProblem>> {
    let spec = DynamicSpec::new("by_hand", "Made by hand.").input_schema(input);
    let registry = Registry::builder()
        .with(vec![by_hand(spec)])
        .build()
        .unwrap();
    let (exported, not_strict) =
        export(&registry, dialect).map_err(|error| error.problems().to_vec())?;
    if not_strict.is_empty() {
        return Ok(exported[0]["input_schema"].clone());
    }
    assert_eq!(exported[0].get("strict"), None);
    Err(not_strict)
}

#[test]
fn without_strict_the_whole_schema_is_a_hint() {
    let registry = registry();
    let exported = tools(&registry, PLAIN);
    for (tool, info) in exported.as_array().unwrap().iter().zip(registry.tools()) {
        let mut whole = info.input_schema().clone();
        // The ends of wide types say nothing to a model.
        for property in whole["properties"].as_object_mut().unwrap().values_mut() {
            if let Value::Object(keywords) = property {
                keywords.retain(|keyword, end| {
                    let is_end = matches!(keyword.as_str(), "minimum" | "maximum");
                    !is_end || end.as_f64().unwrap().abs() < 9e18
                });
            }
        }
        assert_eq!(tool["input_schema"], super::inlined(&whole, &whole));
        assert_eq!(tool["name"], info.name());
        assert_eq!(tool.get("strict"), None);
    }
}

#[test]
fn what_strict_does_not_know_is_said_where_it_holds() {
    let registry = Registry::builder().tool(reserve).build().unwrap();
    let tool = &tools(&registry, STRICT)[0];
    assert_eq!(tool["strict"], true);
    let properties = &tool["input_schema"]["properties"];
    assert_eq!(
        properties["seats"],
        json!({"type": "integer", "description": "How many. (1 to 8)"})
    );
    assert_eq!(
        properties["row"],
        json!({"type": "string", "description": "matches `^r`"})
    );
    assert_eq!(
        properties["class"],
        json!({"type": "integer", "default": 2, "description": "0 to 255"})
    );
    assert_eq!(
        tool["input_schema"]["required"],
        json!(["seats", "row", "names"])
    );
    assert_eq!(tool["input_schema"]["additionalProperties"], false);
    let text = tool["description"].as_str().unwrap();
    assert!(
        text.contains("Requires:\n- `seats != 4`, or `row != \"r4\"`"),
        "{text}"
    );
}

/// Every keyword that the documentation names, and every place for it.
fn in_the_subset(schema: &Value, at: &str) {
    let keywords = schema.as_object().unwrap();
    for (keyword, value) in keywords {
        let at = format!("{at}/{keyword}");
        match keyword.as_str() {
            "type" | "description" | "default" | "required" => {}
            "enum" => assert!(
                !value
                    .as_array()
                    .unwrap()
                    .iter()
                    .any(|one| one.is_object() || one.is_array()),
                "{at}"
            ),
            "format" => assert!(
                ["date-time", "uuid", "date", "uri"].contains(&value.as_str().unwrap()),
                "{at}"
            ),
            "minItems" => assert!(value.as_u64().unwrap() < 2, "{at}"),
            "additionalProperties" => assert_eq!(value, false, "{at}"),
            "items" => in_the_subset(value, &at),
            "anyOf" => value
                .as_array()
                .unwrap()
                .iter()
                .for_each(|one| in_the_subset(one, &at)),
            "properties" => value
                .as_object()
                .unwrap()
                .iter()
                .for_each(|(name, one)| in_the_subset(one, &format!("{at}/{name}"))),
            other => panic!("`{other}` at {at}"),
        }
    }
    if schema["type"] == "object" {
        assert_eq!(schema["additionalProperties"], false, "{at}");
    }
}

#[test]
fn strict_schemas_hold_nothing_but_the_subset() {
    let registry = registry();
    for tool in tools(&registry, STRICT).as_array().unwrap() {
        in_the_subset(&tool["input_schema"], tool["name"].as_str().unwrap());
    }
}

#[test]
fn how_long_a_list_must_be_is_said() {
    let list = |ends: Value| {
        let mut list = json!({"type": "array", "items": {"type": "string"}});
        list.as_object_mut()
            .unwrap()
            .extend(ends.as_object().unwrap().clone());
        let input =
            json!({"type": "object", "properties": {"list": list}, "additionalProperties": false});
        described(input, STRICT).unwrap()["properties"]["list"].clone()
    };
    let expected = |least: Option<u8>, words: Option<&str>| {
        let mut out = json!({"type": "array", "items": {"type": "string"}});
        if let Some(least) = least {
            out["minItems"] = json!(least);
        }
        if let Some(words) = words {
            out["description"] = json!(words);
        }
        out
    };
    assert_eq!(list(json!({})), expected(None, None));
    assert_eq!(list(json!({"minItems": 1})), expected(Some(1), None));
    assert_eq!(
        list(json!({"minItems": 1, "maxItems": 4})),
        expected(Some(1), Some("at most 4 items"))
    );
    assert_eq!(
        list(json!({"minItems": 3})),
        expected(Some(1), Some("at least 3 items"))
    );
    assert_eq!(
        list(json!({"minItems": 2, "maxItems": 4})),
        expected(Some(1), Some("2 to 4 items"))
    );
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Node {
    children: Vec<Node>,
}

/// Walk a tree.
#[tool]
fn walk(node: Node) -> usize {
    node.children.len()
}

/// Sum up.
#[tool]
fn sum(counts: BTreeMap<String, u32>) -> u32 {
    counts.values().sum()
}

/// Look at anything.
#[tool]
fn look(any: Value) -> String {
    any.to_string()
}

#[test]
fn what_cannot_be_said_is_named_with_its_place() {
    let place = |registry: Registry| {
        let (_, not_strict) = export(&registry, STRICT).unwrap();
        let [ExportProblem::Inexpressible { pointer, what, .. }] = &not_strict[..] else {
            panic!("{not_strict:?}");
        };
        format!("{pointer}: {what}")
    };
    assert_eq!(place(with(walk)), "/properties/node: a type inside itself");
    assert_eq!(
        place(with(sum)),
        "/properties/counts: an object with any keys"
    );
    assert_eq!(place(with(look)), "/properties/any: a value of any type");
}

#[test]
fn values_that_differ_in_case_alone_are_refused() {
    let choice = |values: Value| {
        let input = json!({"type": "object", "properties": {"a": {"type": "array", "items": {"enum": values}}}});
        described(input, STRICT)
    };
    assert!(choice(json!(["one", "two", 1])).is_ok());
    let problems = choice(json!(["one", "One"])).unwrap_err();
    assert_eq!(
        problems[0].to_string(),
        "`by_hand`: the choice between `one` and `One` at `/properties/a/items` cannot be expressed in this dialect; \
         use values that differ in more than the case of their letters"
    );
}

fn many(count: usize, properties: usize, property: &Value, required: bool) -> Registry {
    let mut builder = Registry::builder();
    for index in 0..count {
        let names: Vec<_> = (0..properties).map(|name| format!("p{name}")).collect();
        let members: serde_json::Map<_, _> = names
            .iter()
            .map(|name| (name.clone(), property.clone()))
            .collect();
        let mut input =
            json!({"type": "object", "properties": members, "additionalProperties": false});
        if required {
            input["required"] = json!(names);
        }
        let spec = DynamicSpec::new(format!("tool{index}"), "One of many.").input_schema(input);
        builder = builder.with(vec![by_hand(spec)]);
    }
    builder.build().unwrap()
}

#[test]
fn the_totals_of_a_request_are_held() {
    let text = json!({"type": "string"});
    let union = json!({"type": ["string", "null"]});
    for (registry, over) in [
        (many(20, 1, &text, true), None),
        (
            many(21, 1, &text, true),
            Some("21 strict tools, and one request may hold 20"),
        ),
        (many(2, 12, &text, false), None),
        (
            many(5, 5, &text, false),
            Some("25 parameters that may be left out, and one request may hold 24"),
        ),
        (many(2, 8, &union, true), None),
        (
            many(1, 17, &union, true),
            Some("17 values of several types, and one request may hold 16"),
        ),
    ] {
        match (export(&registry, STRICT), over) {
            (Ok(_), None) => {}
            (Err(error), Some(over)) => {
                assert!(
                    matches!(error.problems(), [ExportProblem::Total { .. }]),
                    "{error}"
                );
                assert!(error.to_string().contains(over), "{error}");
            }
            (found, over) => panic!("{found:?}, and not {over:?}"),
        }
    }
}

/// Move a file.
#[tool]
#[pre(to.len() < 100)]
fn shift(
    #[arg(example = "a.txt", example = "b.txt")] from: String,
    #[arg(example = "c.txt")] to: String,
    #[arg(default = false)] force: bool,
) -> String {
    format!("{from}{to}{force}")
}

/// Say something in part.
#[tool]
fn partly(#[arg(example = "x")] given: String, missing: String) -> String {
    given + &missing
}

/// Order two numbers.
#[tool]
#[pre(high > low)]
fn ordered(#[arg(example = 5)] low: u8, #[arg(example = 1)] high: u8) -> u8 {
    high - low
}

#[test]
fn examples_are_whole_arguments_that_a_call_accepts() {
    for dialect in [PLAIN, STRICT] {
        let examples = json!([{"from": "a.txt", "to": "c.txt"}, {"from": "b.txt", "to": "c.txt"}]);
        assert_eq!(one(shift, dialect)["input_examples"], examples);
        assert_eq!(one(partly, dialect).get("input_examples"), None);
        // Of two parameters only a call can tell.
        assert_eq!(one(ordered, dialect).get("input_examples"), None);
        let registry = registry();
        for tool in tools(&registry, dialect).as_array().unwrap() {
            let schema = jsonschema::validator_for(&tool["input_schema"]).unwrap();
            for example in tool
                .get("input_examples")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                assert!(schema.is_valid(example), "{example}");
            }
        }
    }
}

/// The names under which properties with these names are exported.
fn exported_names(names: &[&str], dialect: AnyDialect) -> Vec<String> {
    let properties: serde_json::Map<_, _> = names
        .iter()
        .map(|name| ((*name).to_owned(), json!({"type": "integer"})))
        .collect();
    let input = json!({"type": "object", "properties": properties, "additionalProperties": false});
    let schema = described(input, dialect).unwrap();
    let properties = schema["properties"].as_object().unwrap();
    properties.keys().cloned().collect()
}

#[test]
fn a_parameter_whose_name_the_api_refuses_has_another_name() {
    let longest = "n".repeat(64);
    let longer = "n".repeat(65);
    for dialect in [PLAIN, STRICT] {
        let accepted = ["a", "filter.name", "two-words", "_9", &longest];
        assert_eq!(exported_names(&accepted, dialect), accepted, "{dialect}");
        let refused = ["$top", "@odata.type", "filter[id]", "two words", "größe"];
        let new = ["top", "odata_type", "filter_id", "two_words", "gr__e"];
        assert_eq!(exported_names(&refused, dialect), new, "{dialect}");
        for refused in ["", "é", &longer] {
            let [new] = &exported_names(&[refused], dialect)[..] else {
                panic!("one property")
            };
            let plain = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
            assert!(
                (1..=64).contains(&new.len()) && new.bytes().all(plain),
                "{new}"
            );
        }
    }
}
