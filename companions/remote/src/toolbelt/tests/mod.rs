//! Untrusted handshakes.

mod anything;
#[allow(dead_code, reason = "another test reads the rest of it")]
#[path = "../../../../manifest/tests/manifest/rules/tools.rs"]
mod clauses;
mod rules;

use std::net::TcpListener;
use std::thread;

use contract_manifest::{Manifest, ToManifest as _};
use contract_runtime::Registry;
use serde_json::{Value, json};

use super::{Limits, Toolbelt, depth};
use crate::protocol::{Handshake, TaskId};

type Tested = Result<(), Box<dyn std::error::Error>>;

/// The stack of the threads below: a fourth of what a worker of an async runtime has.
const STACK: usize = 512 << 10;

fn handshake(custom: &[Value]) -> Result<Handshake, serde_json::Error> {
    serde_json::from_value(json!({
        "protocol": 1,
        "task": TaskId::random(),
        "epoch": 0,
        "journal": TaskId::random(),
        "known_tools": [],
        "custom_tools": custom,
        "platform": {"working_directory": "/", "system": "linux", "architecture": "x86_64", "parallel": 1},
        "unacknowledged": [],
    }))
}

fn known() -> Result<Manifest, contract_runtime::BuildError> {
    Ok(Registry::builder().build()?.manifest())
}

fn custom(change: impl FnOnce(&mut Value)) -> Value {
    let mut tool = json!({
        "name": "tool",
        "description": "Do something.",
        "package": "",
        "hints": {},
        "input_schema": {"type": "object", "properties": {"x": {"type": "integer"}}, "additionalProperties": false},
        "conditions": [],
    });
    change(&mut tool);
    tool
}

fn condition(rule: &str) -> Value {
    json!({
        "id": "tool.pre[0]", "kind": "pre", "predicate": "x", "parameters": ["x"], "lowering": "described", "sentence": "x",
        "rule": {"id": "tool.pre[0]", "rule": rule, "message": "no", "paths": ["/x"]},
    })
}

/// Why the one tool is refused; `None` if it is taken.
fn refused(tool: Value, limits: &Limits) -> Result<Option<String>, Box<dyn std::error::Error>> {
    let belt = Toolbelt::of(&handshake(&[tool])?, &known()?, limits);
    assert_eq!(belt.tools().len() + belt.refused().len(), 1);
    Ok(belt.refused().first().map(|one| one.reason.clone()))
}

#[test]
fn a_schema_is_refused_for_what_it_would_make_others_do() -> Tested {
    let limits = Limits::default();
    let table = [
        (
            json!({"$ref": "http://127.0.0.1:1/x"}),
            "only references inside",
        ),
        (json!({"$ref": "//127.0.0.1/x"}), "only references inside"),
        (json!({"$ref": "other.json"}), "only references inside"),
        (json!({"$ref": 7}), "only references inside"),
        (
            json!({"properties": {"x": {"items": {"$ref": "file:///etc/passwd"}}}}),
            "file:///etc/passwd",
        ),
        (json!({"anyOf": [{"$ref": "x"}]}), "only references inside"),
        (
            json!({"$defs": {"a": {"$ref": "x"}}}),
            "only references inside",
        ),
        (
            json!({"definitions": {"a": {"$ref": "x"}}}),
            "`definitions` is not supported",
        ),
        (
            json!({"$id": "http://127.0.0.1/"}),
            "`$id` is not supported",
        ),
        (json!({"$vocabulary": {}}), "`$vocabulary` is not supported"),
        (
            json!({"$recursiveRef": "#"}),
            "`$recursiveRef` is not supported",
        ),
        (
            json!({"$dynamicRef": "#x"}),
            "`$dynamicRef` is not supported",
        ),
        (
            json!({"$schema": "http://127.0.0.1/schema"}),
            "`$schema` names a dialect other than",
        ),
        (
            json!({"$schema": 1}),
            "`$schema` names a dialect other than",
        ),
        (
            json!({"properties": {"a\u{202e}b": true}}),
            "holds characters that do not show",
        ),
        (
            json!({"properties": {"x": {"pattern": "(((("}}}),
            "the pattern",
        ),
        (
            json!({"properties": {"x": {"pattern": "([a-z]{1000}){1000}"}}}),
            "too large",
        ),
        (
            json!({"patternProperties": {"(a{1000}){1000}": true}}),
            "too large",
        ),
        (
            json!({"properties": {"x": {"$ref": "#/nowhere"}}}),
            "does not resolve",
        ),
        (
            json!({"properties": {"x": {"$ref": "#/properties/x"}}}),
            "without an end",
        ),
        (
            json!({"properties": {"x": {"unevaluatedItems": false}}}),
            "not supported",
        ),
    ];
    for (keywords, why) in table {
        for place in ["input_schema", "output_schema"] {
            let tool = custom(|tool| {
                let mut schema = json!({"type": "object"});
                if let (Value::Object(all), Value::Object(keywords)) = (&mut schema, &keywords) {
                    all.extend(keywords.clone());
                }
                tool[place] = schema;
            });
            let enforced =
                !(why.contains("resolve") || why.contains("end") || why.contains("supported"));
            if place == "input_schema" || enforced {
                let reason = refused(tool, &limits)?.unwrap_or_default();
                assert!(reason.contains(why), "{place} {keywords}: {reason}");
            }
        }
    }
    let fine = custom(|tool| {
        tool["input_schema"] = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            // Data, not keywords.
            "properties": {"$ref": {"const": {"$ref": "http://127.0.0.1/"}}, "a": {"$ref": "#/$defs/a"}},
            "$defs": {"a": {"type": "string", "pattern": "^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$"}},
        });
    });
    assert_eq!(refused(fine, &limits)?, None);
    Ok(())
}

#[test]
fn each_limit_holds_at_its_figure() -> Tested {
    let limits = Limits::default();
    let sized = |bytes: usize| {
        let empty = custom(|tool| tool["description"] = json!(""))
            .to_string()
            .len();
        custom(|tool| tool["description"] = json!("x".repeat(bytes - empty)))
    };
    assert_eq!(refused(sized(limits.tool_bytes), &limits)?, None);
    let reason = refused(sized(limits.tool_bytes + 1), &limits)?;
    assert_eq!(
        reason.as_deref(),
        Some("65537 bytes, and 65536 are the limit")
    );
    let conditions =
        |count: usize| custom(|tool| tool["conditions"] = vec![condition("true"); count].into());
    assert_eq!(refused(conditions(64), &limits)?, None);
    let reason = refused(conditions(65), &limits)?;
    assert_eq!(
        reason.as_deref(),
        Some("65 conditions, and 64 are the limit")
    );
    let nested = |levels: usize| {
        let inside = custom(|_| ());
        let more = levels - depth(&inside) + 2;
        custom(|tool| tool["other"] = (1..more).fold(json!(1), |inner, _| json!([inner])))
    };
    for levels in [limits.depth, limits.depth + 1] {
        let tool = nested(levels);
        let fits = depth(&tool) <= limits.depth;
        assert_eq!(refused(tool, &limits)?.is_none(), fits);
    }
    // All together: the first ones stand, until there is no room.
    let tools = (0..40).map(|n| {
        let mut tool = sized(limits.tool_bytes - 1);
        tool["name"] = json!(format!("t{n:02}"));
        tool
    });
    let belt = Toolbelt::of(&handshake(&tools.collect::<Vec<_>>())?, &known()?, &limits);
    assert_eq!((belt.tools().len(), belt.refused().len()), (32, 8));
    let patterns = (0..100).map(|n| {
        custom(|tool| {
            tool["name"] = json!(format!("t{n:02}"));
            tool["input_schema"]["properties"]["x"] = json!({"pattern": "[a-z]{1000}"});
        })
    });
    let belt = Toolbelt::of(
        &handshake(&patterns.collect::<Vec<_>>())?,
        &known()?,
        &limits,
    );
    assert_eq!((belt.tools().len(), belt.refused().len()), (32, 68));
    Ok(())
}

#[test]
fn nothing_that_does_not_show_reaches_a_reader() -> Tested {
    let hidden = "a\u{1b}[2J\u{202e}\u{200b}\u{2066}\u{feff}\u{e0041}\u{e0101}\u{ad}\r\u{7f}z";
    let tool = custom(|tool| {
        for key in ["description", "title", "package", "location"] {
            tool[key] = json!(hidden);
        }
        tool["later"] = json!(hidden);
        tool["input_schema"]["description"] = json!(hidden);
        tool["input_schema"]["properties"]["x"]["title"] = json!(hidden);
        tool["input_schema"]["properties"]["x"]["anyOf"] = json!([{"description": hidden}]);
        tool["output_schema"] = json!({"description": hidden});
        let mut condition = condition("true");
        for key in ["id", "predicate", "sentence", "message", "later"] {
            condition[key] = json!(hidden);
        }
        condition["parameters"] = json!([hidden]);
        condition["rule"]["id"] = json!(hidden);
        condition["rule"]["message"] = json!(hidden);
        tool["conditions"] = json!([condition]);
    });
    let belt = Toolbelt::of(&handshake(&[tool])?, &known()?, &Limits::default());
    let taken = serde_json::to_string(&belt.tools().collect::<Vec<_>>())?;
    assert_eq!(taken.matches("a[2Jz").count(), 15);
    assert!(taken.is_ascii() && !taken.contains("\\u"), "{taken}");
    let name = custom(|tool| tool["name"] = json!(hidden));
    let belt = Toolbelt::of(&handshake(&[name])?, &known()?, &Limits::default());
    assert_eq!(belt.refused()[0].name, "a[2Jz");
    Ok(())
}

/// Runs on a thread with little stack, where a recursion without a limit ends the process.
fn with_little_stack<T: Send>(run: impl FnOnce() -> T + Send) -> std::io::Result<Option<T>> {
    thread::scope(|scope| {
        let thread = thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, run)?;
        Ok(thread.join().ok())
    })
}

#[test]
fn a_frame_nested_a_million_levels_is_no_message() {
    let text = r#"{"type":"handshake","payload":"#.to_owned() + &"[".repeat(8 << 20);
    let read = with_little_stack(|| {
        crate::protocol::read::<crate::protocol::ExecutorMessage>(&text, &["handshake"]).is_err()
    });
    assert!(matches!(read, Ok(Some(true))));
}

#[test]
fn no_reference_is_fetched() -> Tested {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    for place in [
        "$ref",
        "$id",
        "$schema",
        "$dynamicRef",
        "$recursiveRef",
        "$anchor",
        "contentSchema",
    ] {
        for url in [format!("http://{address}/x"), format!("//{address}/x#")] {
            let tool = custom(|tool| {
                tool["input_schema"]["properties"]["x"][place] = json!(url);
                tool["output_schema"] = json!({place: url});
            });
            refused(tool, &Limits::default())?;
        }
    }
    let came = listener.accept();
    assert!(came.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock));
    Ok(())
}

#[test]
fn every_rule_that_a_registry_publishes_is_read() -> Tested {
    let published = clauses::registry().manifest();
    assert!(clauses::CLAUSES.len() > 50, "{}", clauses::CLAUSES.len());
    let mut rules = 0;
    for tool in &published.tools {
        rules += tool
            .conditions
            .iter()
            .filter(|one| one.rule.is_some())
            .count();
        let entry = serde_json::to_value(tool)?;
        assert_eq!(refused(entry, &Limits::default())?, None, "{}", tool.name);
    }
    assert!(rules >= clauses::CLAUSES.len(), "{rules}");
    Ok(())
}

#[test]
fn tools_stay_in_the_order_in_which_they_were_declared() -> Tested {
    let named = |name: &str| custom(|tool| tool["name"] = json!(name));
    let mut tools = ["b", "c", "a"].map(named);
    let belt = Toolbelt::of(&handshake(&tools)?, &known()?, &Limits::default());
    assert_eq!(belt.names(), ["b", "c", "a"]);
    tools.reverse();
    let other = Toolbelt::of(&handshake(&tools)?, &known()?, &Limits::default());
    assert_eq!(other.names(), ["a", "c", "b"]);
    assert!(belt.same_tools(&other));
    let fewer = Toolbelt::of(&handshake(&tools[1..])?, &known()?, &Limits::default());
    assert!(!belt.same_tools(&fewer));
    Ok(())
}
