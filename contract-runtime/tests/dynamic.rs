//! Conditions on tools that no macro made: as the conditions of `#[tool]` in everything that can be seen of them.

use std::sync::{Arc, Mutex};

use contract_manifest::{Inspect as _, ToManifest as _};
use contract_runtime::DynamicSpec;
use contract_runtime::observe::{CheckEvent, Observer};
use contract_runtime::prelude::*;
use contract_runtime::{
    BuildProblem, Detection, Dialect, Lowering, McpRevision, PolicyOrigin, Run, Status,
};
use serde_json::{Value, json};

fn spec(name: &str) -> DynamicSpec {
    DynamicSpec::new(name, "Halve a number.").input_schema(json!({
        "type": "object",
        "properties": {"number": {"type": "integer"}},
        "required": ["number"],
        "additionalProperties": false,
    }))
}

fn number(arguments: &serde_json::Map<String, Value>) -> i64 {
    arguments["number"].as_i64().unwrap_or_default()
}

fn halve() -> Tool {
    Tool::dynamic(spec("halve"), |arguments| async move {
        match number(&arguments) {
            13 => Err("unlucky"),
            even => Ok(Content::json(&json!(even / 2))),
        }
    })
    .pre("the number is even", |arguments| {
        number(arguments) % 2 == 0 || number(arguments) == 13
    })
    .post("half of the number", |arguments, half| {
        half.as_i64() == Some(number(arguments) / 2) && number(arguments) != 66
    })
    .pre(format!("the number is {}", "small"), |arguments| {
        number(arguments) < 100
    })
}

fn registry() -> Registry {
    Registry::builder().with(vec![halve()]).build().unwrap()
}

fn call(registry: &Registry, number: i64) -> Outcome {
    registry
        .call(ToolCall::new(
            "7",
            "halve",
            format!(r#"{{"number":{number}}}"#),
        ))
        .blocking()
}

#[test]
fn a_violation_says_all_that_it_says_of_a_macro_made_tool() {
    let outcome = call(&registry(), 3);
    let violation = outcome.violation().unwrap();
    assert_eq!(violation.contract, "halve.pre[0]");
    assert_eq!(violation.predicate, "the number is even");
    assert_eq!(
        violation.values,
        json!({"number": 3}).as_object().cloned().unwrap().into()
    );
    assert_eq!(violation.call_id.as_deref(), Some("7"));
    assert_eq!(violation.detection, Detection::PredicateFalse);
    assert!(
        violation.location.file.ends_with("dynamic.rs"),
        "{}",
        violation.location
    );
    assert_eq!(
        outcome.error().unwrap(),
        "`halve` requires `the number is even`, got number = 3"
    );
    let outcome = call(&registry(), 102);
    assert_eq!(outcome.violation().unwrap().contract, "halve.pre[2]");
    let outcome = call(&registry(), 66);
    let violation = outcome.violation().unwrap();
    assert_eq!(violation.contract, "halve.post[1]");
    assert_eq!(violation.values["result"], 33);
    assert_eq!(call(&registry(), 8).output(), Some("4"));
    // A postcondition speaks of results, not of failures.
    assert_eq!(call(&registry(), 13).status(), Status::Failed);
}

#[test]
fn everybody_is_told_of_them() {
    let registry = registry();
    let tool = registry.tool("halve").unwrap();
    let ids: Vec<_> = tool
        .conditions()
        .iter()
        .map(contract_runtime::PublishedCondition::id)
        .collect();
    assert_eq!(ids, ["halve.pre[0]", "halve.post[1]", "halve.pre[2]"]);
    assert!(
        tool.conditions()
            .iter()
            .all(|one| one.lowering() == Lowering::Described)
    );
    assert!(registry.lint().is_empty());
    let explained = registry.explain("halve").unwrap();
    assert!(
        explained.contains("requires `the number is even`, policy enforce"),
        "{explained}"
    );
    assert!(
        explained.contains("promises `half of the number`"),
        "{explained}"
    );
    let mcp = registry.export(Dialect::Mcp(McpRevision::July2026));
    assert!(
        mcp[0]["description"]
            .as_str()
            .unwrap()
            .contains("Requires:\n- `the number is even`")
    );
    let conditions = &mcp[0]["_meta"]["rs.docs.contract-runtime/contract"]["conditions"];
    assert_eq!(conditions[2]["id"], "halve.pre[2]");
    let manifest = serde_json::to_value(registry.manifest()).unwrap();
    assert!(manifest.to_string().contains("half of the number"));
}

#[test]
fn policies_come_from_all_who_may_set_them() {
    let build = |set: fn(contract_runtime::Builder) -> contract_runtime::Builder, tool: Tool| {
        set(Registry::builder().with(tool)).build().unwrap()
    };
    let observed = build(|builder| builder.policy(Policy::Observe), halve());
    let outcome = call(&observed, 3);
    assert!(outcome.is_ok());
    assert_eq!(outcome.observed()[0].origin, PolicyOrigin::Registry);
    let own = build(
        |builder| builder.policy(Policy::Observe),
        halve().policy(Policy::Enforce),
    );
    assert_eq!(
        call(&own, 3).violation().unwrap().origin,
        PolicyOrigin::Tool
    );
    let overruled = build(
        |builder| builder.override_policy("halve", Policy::Ignore),
        halve().policy(Policy::Enforce),
    );
    assert!(call(&overruled, 3).is_ok());
    let skipped = overruled.statistics().conditions;
    assert_eq!((skipped.evaluated, skipped.skipped), (0, 3));
}

#[tokio::test]
async fn a_run_sets_its_policy_and_watches() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let run = Run::new()
        .policy(Policy::Observe)
        .observe(Observer::new().events({
            let seen = Arc::clone(&seen);
            move |watched| {
                seen.lock().unwrap().push(match watched {
                    CheckEvent::Check(check) => check.contract,
                    CheckEvent::Entered { tool, .. } => format!("into {tool}"),
                    CheckEvent::Violation(violation) => format!("broken {}", violation.contract),
                    _ => String::from("other"),
                });
            }
        }));
    let registry = registry();
    let context = Context::new().run(&run);
    let outcome = registry
        .call(ToolCall::new("1", "halve", r#"{"number":3}"#))
        .context(context)
        .await;
    assert_eq!(outcome.output(), Some("1"));
    assert_eq!(outcome.observed()[0].origin, PolicyOrigin::Run);
    let expected = [
        "halve.pre[0]",
        "broken halve.pre[0]",
        "halve.pre[2]",
        "into halve",
        "halve.post[1]",
    ];
    assert_eq!(*seen.lock().unwrap(), expected);
    let counts = run.counts();
    assert_eq!((counts.evaluated, counts.violated), (3, 1));
}

#[test]
fn a_predicate_that_panics_is_a_violation() {
    let tool = Tool::dynamic(spec("halve"), |_| async {
        Ok::<_, String>(Content::text(""))
    });
    let before = tool.clone().pre("before", |_| panic!("no"));
    let after = tool.post("after", |_, _| panic!("no"));
    for (tool, kind) in [(before, "halve.pre[0]"), (after, "halve.post[0]")] {
        let registry = Registry::builder().with(tool).build().unwrap();
        let outcome = call(&registry, 3);
        let violation = outcome.violation().unwrap();
        assert_eq!(
            (violation.contract.as_str(), violation.detection),
            (kind, Detection::Panicked)
        );
    }
}

#[test]
fn the_id_keeps_the_name_that_the_tool_was_made_with() {
    let registry = Registry::builder()
        .with(vec![halve()])
        .rename("halve", "split")
        .prefix("math_")
        .build()
        .unwrap();
    let outcome = registry
        .call(ToolCall::new("1", "math_split", r#"{"number":3}"#))
        .blocking();
    let violation = outcome.violation().unwrap();
    assert_eq!(
        (violation.contract.as_str(), violation.tool.as_str()),
        ("halve.pre[0]", "math_split")
    );
    assert_eq!(
        registry.tool("math_split").unwrap().conditions()[0].id(),
        "halve.pre[0]"
    );
}

#[test]
fn a_clone_has_conditions_of_its_own() {
    let plain = Tool::dynamic(spec("halve"), |_| async {
        Ok::<_, String>(Content::text(""))
    });
    let strict = plain.clone().pre("never", |_| false);
    let build = |tool: Tool| Registry::builder().with(tool).build().unwrap();
    assert!(call(&build(plain), 3).is_ok());
    assert_eq!(call(&build(strict), 3).status(), Status::Violation);
}

#[tokio::test]
async fn arguments_are_judged_by_the_schema_first_and_a_check_runs_no_body() {
    let registry = registry();
    let outcome = registry
        .call(ToolCall::new("1", "halve", r#"{"number":"x"}"#))
        .await;
    assert_eq!(outcome.status(), Status::InvalidArguments);
    assert_eq!(registry.statistics().conditions.evaluated, 0);
    let body = Tool::dynamic(spec("halve"), |_| async {
        panic!("the body ran");
        #[allow(unreachable_code, reason = "it says the type")]
        Ok::<_, String>(Content::text(""))
    })
    .pre("even", |arguments| number(arguments) % 2 == 0);
    let registry = Registry::builder().with(body).build().unwrap();
    for (number, status) in [(2, Status::Ok), (3, Status::Violation)] {
        let call = ToolCall::new("1", "halve", format!(r#"{{"number":{number}}}"#));
        assert_eq!(registry.check(call).await.status(), status);
    }
}

struct Store;

#[tool]
impl Store {
    /// Count.
    #[tool]
    fn count(&self) -> u32 {
        0
    }
}

#[test]
fn a_macro_made_tool_has_its_conditions_above_its_function() {
    for misplace in [
        |tool: Tool| tool.pre("x", |_| true),
        |tool: Tool| tool.post("x", |_, _| true),
        |tool: Tool| tool.policy(Policy::Observe),
    ] {
        let tools: Vec<Tool> = Store.into_tools().into_iter().map(misplace).collect();
        let error = Registry::builder().with(tools).build().unwrap_err();
        assert!(
            matches!(error.problems(), [BuildProblem::Misplaced { tool, .. }] if tool == "count")
        );
    }
}

struct User(&'static str);

#[tokio::test]
async fn a_handler_sees_its_call() {
    let tool = Tool::dynamic_with(
        spec("halve")
            .context::<User>()
            .timeout(std::time::Duration::from_secs(60)),
        |_, context| async move {
            context.progress.report(1.0, None, "half way");
            assert!(!context.cancellation.is_cancelled() && context.remaining().is_some());
            assert!(context.get::<String>().is_none());
            let user = context.get::<User>().ok_or("nobody")?;
            Ok::<_, &str>(Content::text(format!(
                "{} {} {}",
                context.call.id, context.call.tool, user.0
            )))
        },
    );
    let missing = Registry::builder()
        .with(vec![tool.clone()])
        .build()
        .unwrap_err();
    assert!(matches!(
        missing.problems(),
        [BuildProblem::MissingContext { .. }]
    ));
    let registry = Registry::builder()
        .with(tool)
        .context(User("eve"))
        .build()
        .unwrap();
    let heard = Arc::new(Mutex::new(0.0));
    let progress = Progress::new({
        let heard = Arc::clone(&heard);
        move |report| *heard.lock().unwrap() = report.done
    });
    let context = Context::new().progress(progress).with(User("ada"));
    let call = ToolCall::new("9", "halve", r#"{"number":3}"#);
    assert_eq!(
        registry.call(call).context(context).await.output(),
        Some("9 halve ada")
    );
    assert!(*heard.lock().unwrap() > 0.5);
    let call = ToolCall::new("9", "halve", r#"{"number":3}"#);
    assert_eq!(registry.call(call).await.output(), Some("9 halve eve"));
}

#[test]
fn a_dialect_is_published_where_it_is_the_one_that_is_enforced() {
    let published = |dialect: &str| {
        let schema = json!({
            "$schema": dialect,
            "type": "object",
            "$defs": {"name": {"$anchor": "named", "type": "string"}},
            "properties": {"name": {"$ref": "#/$defs/name"}},
        });
        let spec = DynamicSpec::new("tool", "A tool.").input_schema(schema);
        let tool = Tool::dynamic(spec, |_| async { Ok::<_, String>(Content::text("")) });
        let registry = Registry::builder().with(tool).build().unwrap();
        let exported = registry.export(Dialect::Mcp(McpRevision::July2026));
        exported[0]["inputSchema"].clone()
    };
    let newest = "https://json-schema.org/draft/2020-12/schema";
    let schema = published(newest);
    assert_eq!(schema["$schema"], newest);
    assert_eq!(schema["properties"]["name"], json!({"type": "string"}));
    assert_eq!(
        published("http://json-schema.org/draft-07/schema#").get("$schema"),
        None
    );
}

/// A JSON value holds integers of 64 bits; another one would be a float, and not the number that the model has sent.
#[test]
fn an_integer_that_a_value_would_round_is_refused() {
    let echo = Tool::dynamic(
        DynamicSpec::new("echo", "Give it back.").input_schema(json!({
            "type": "object",
            "properties": {
                "number": {"type": "integer"},
                "list": {"type": "array", "items": {"type": ["integer", "null"]}},
                "any": {"type": "number"},
            },
        })),
        |arguments| async move { Ok::<_, &str>(Content::json(&Value::Object(arguments))) },
    );
    let registry = Registry::builder().with(echo).build().unwrap();
    let call = |arguments: &str| {
        registry
            .call(ToolCall::new("1", "echo", arguments))
            .blocking()
    };
    for exact in [
        r#"{"number":18446744073709551615}"#,
        r#"{"number":-9223372036854775808}"#,
        r#"{"list":[null,18446744073709551615]}"#,
    ] {
        assert_eq!(call(exact).output(), Some(exact));
    }
    for (rounded, pointer) in [
        (r#"{"number":18446744073709551616}"#, "/number"),
        (r#"{"number":-9223372036854775809}"#, "/number"),
        (r#"{"number":36893488147419103232}"#, "/number"),
        (
            r#"{"list":[1,340282366920938463463374607431768211455]}"#,
            "/list/1",
        ),
    ] {
        let outcome = call(rounded);
        let refused = outcome.invalid_arguments();
        let problems = refused.unwrap_or_else(|| panic!("{outcome:?}")).problems();
        assert_eq!(problems.len(), 1, "{outcome:?}");
        assert_eq!(problems[0].pointer, pointer);
        assert!(
            problems[0].expected.contains("from -2^63 to 2^64 - 1"),
            "{outcome:?}"
        );
    }
    // Where a float may stand, it may be rounded.
    assert_eq!(call(r#"{"any":18446744073709551617}"#).status(), Status::Ok);
}

fn tool_with(schema: Value) -> Registry {
    let tool = Tool::dynamic(
        DynamicSpec::new("take", "Take it.").input_schema(schema),
        |_| async { Ok::<_, String>(Content::text("taken")) },
    );
    Registry::builder().with(tool).build().unwrap()
}

#[test]
fn a_schema_of_draft_07_is_read_as_what_it_means() {
    let registry = tool_with(json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "https://example.com/order.json",
        "type": "object",
        "properties": {
            "item": {"$ref": "#/definitions/item"},
            "gift": {"$ref": "https://example.com/order.json#/definitions/item"},
            "card": {"type": "string"},
            "name": {"type": "string"},
            "size": {"type": "array", "items": [{"type": "integer"}, {"type": "string"}], "additionalItems": false},
        },
        "dependencies": {"card": ["name"], "gift": {"required": ["item"]}},
        "definitions": {"item": {"type": "string", "minLength": 2}},
        "additionalProperties": false,
    }));
    let refusal = |arguments: &str| {
        let outcome = registry
            .call(ToolCall::new("1", "take", arguments))
            .blocking();
        outcome.error().unwrap_or_default().to_owned()
    };
    assert_eq!(
        refusal(r#"{"item":"ab","gift":"cd","card":"1","name":"a","size":[1,"m"]}"#),
        ""
    );
    for (arguments, part) in [
        (
            r#"{"item":"a"}"#,
            "`/item`: expected a string of at least 2 characters",
        ),
        (
            r#"{"item":"ab","gift":"c"}"#,
            "`/gift`: expected a string of at least 2 characters",
        ),
        (r#"{"gift":"cd"}"#, "`/item`: required argument is missing"),
        (r#"{"card":"1"}"#, "`/name`: required argument is missing"),
        (r#"{"size":[1,2]}"#, "`/size/1`: expected a string"),
        (
            r#"{"size":[1,"m",3]}"#,
            "`/size`: expected an array of at most 2 items",
        ),
    ] {
        let refusal = refusal(arguments);
        assert!(refusal.contains(part), "{arguments}: {refusal}");
    }
    let published = registry.tool("take").unwrap().input_schema().clone();
    assert_eq!(published["$defs"]["item"]["minLength"], 2);
    assert!(published.get("definitions").is_none() && published.get("$id").is_none());
    for dialect in [Dialect::Neutral, Dialect::Mcp(McpRevision::July2026)] {
        assert_eq!(registry.export(dialect)[0]["name"], "take", "{dialect}");
    }
}

#[test]
fn the_whole_schema_has_a_name_in_what_is_wrong_with_it() {
    let spec = DynamicSpec::new("list", "List it.").input_schema(json!({"type": "array"}));
    let list = Tool::dynamic(spec, |_| async { Ok::<_, String>(Content::text("")) });
    let error = Registry::builder().with(list).build().unwrap_err();
    let expected = r#"the root: expected the schema of an object, with `"type": "object"`"#;
    assert!(error.to_string().ends_with(expected), "{error}");
}
