use std::collections::HashMap;

use contract_runtime::prelude::*;
use serde_json::{Value, json};

use super::line::{Client, july};
use super::tools::Seen;

const OUTCOME: &str = "rs.docs.contract-runtime/outcome";

async fn call(client: &mut Client, name: &str, arguments: &str) -> Value {
    client
        .say(format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"{name}","arguments":{arguments}}}}}"#
        ))
        .await;
    client.hear().await
}

async fn older() -> Client {
    let mut client = Client::new();
    client.begin().await;
    client
}

/// A client that reads outcomes in full.
async fn reader() -> Client {
    let mut client = Client::new();
    let reads = json!({"experimental": {"rs.docs.contract-runtime/contract": {}}});
    client.begin_offering("2025-11-25", reads).await;
    client
}

#[tokio::test]
async fn a_client_that_asks_for_no_more_is_told_status_effect_and_pointers_alone() {
    let mut client = older().await;
    for (name, arguments, meta) in [
        (
            "divide",
            r#"{"dividend":1,"divisor":0}"#,
            json!({"status": "violation", "effect": "none"}),
        ),
        (
            "divide",
            r#"{"extra":1}"#,
            json!({
                "status": "invalid_arguments",
                "effect": "none",
                "pointers": ["/dividend", "/divisor", "/extra"],
            }),
        ),
        (
            "panics",
            "{}",
            json!({"status": "panicked", "effect": "unknown"}),
        ),
    ] {
        let answer = call(&mut client, name, arguments).await;
        assert_eq!(
            answer["result"]["_meta"],
            json!({ OUTCOME: meta }),
            "{answer}"
        );
        assert!(!answer.to_string().contains(".rs"), "{answer}");
    }
    let answer = call(&mut client, "observes", r#"{"number":-1}"#).await;
    assert_eq!(answer["result"].get("_meta"), None);
}

#[tokio::test]
async fn a_violation_is_a_result_that_the_model_can_act_on() {
    let mut client = reader().await;
    let answer = call(&mut client, "divide", r#"{"dividend":1,"divisor":0}"#).await;
    let result = &answer["result"];
    assert_eq!(result["isError"], true);
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("cannot divide by zero"), "{text}");
    let meta = &result["_meta"][OUTCOME];
    assert_eq!(meta["status"], "violation");
    assert_eq!(meta["violation"]["contract"], "divide.pre[0]");
    let file = meta["violation"]["location"]["file"].as_str().unwrap();
    assert!(
        file.ends_with("tools.rs") && !file.starts_with('/'),
        "{file}"
    );
    assert_eq!(result.get("structuredContent"), None);
}

#[tokio::test]
async fn arguments_are_judged_as_they_were_written() {
    let mut client = reader().await;
    for (arguments, at) in [
        (r#"{"dividend":1,"dividend":2,"divisor":1}"#, "/dividend"),
        (r#"{"dividend":1e400,"divisor":1}"#, "/dividend"),
        (r#"{"dividend":1}"#, "/divisor"),
        (r#"{"dividend":1,"divisor":1,"extra":1}"#, "/extra"),
    ] {
        let answer = call(&mut client, "divide", arguments).await;
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        let meta = &answer["result"]["_meta"][OUTCOME];
        assert_eq!(meta["status"], "invalid_arguments");
        assert_eq!(meta["problems"][0]["pointer"], at, "{answer}");
    }
    let answer = call(&mut client, "same", r#"{"number":18446744073709551615}"#).await;
    assert_eq!(
        answer["result"]["content"][0]["text"],
        "18446744073709551615"
    );
}

#[tokio::test]
async fn an_unknown_tool_is_an_error_of_the_protocol() {
    let mut client = older().await;
    let answer = call(&mut client, "devide", "{}").await;
    assert_eq!(answer["error"]["code"], -32602);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("`divide`"), "{message}");
}

#[tokio::test]
async fn every_bad_end_is_a_result_and_says_no_more_than_it_may() {
    let mut client = older().await;
    for (name, status, text) in [
        ("panics", "panicked", "this is a fault of the tool"),
        ("fails", "failed", "the disk is full"),
        ("late", "timed_out", "did not end within"),
    ] {
        let answer = call(&mut client, name, "{}").await;
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert_eq!(answer["result"]["_meta"][OUTCOME]["status"], status);
        let said = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(said.contains(text), "{said}");
        assert!(
            !answer.to_string().contains("secret of the tool"),
            "{answer}"
        );
    }
    client.lives().await;
}

#[tokio::test]
async fn a_violation_that_was_observed_goes_along() {
    let mut client = reader().await;
    let answer = call(&mut client, "observes", r#"{"number":-1}"#).await;
    assert_eq!(answer["result"]["isError"], false);
    let meta = &answer["result"]["_meta"][OUTCOME];
    assert_eq!(meta["status"], "ok");
    assert_eq!(meta["observed"][0]["contract"], "observes.pre[0]");
    let answer = call(&mut client, "observes", r#"{"number":1}"#).await;
    assert_eq!(answer["result"].get("_meta"), None);
}

#[tokio::test]
async fn pictures_files_and_values_are_content() {
    let mut client = older().await;
    let answer = call(&mut client, "gallery", "{}").await;
    assert_eq!(
        answer["result"]["content"],
        json!([
            {"type": "text", "text": "three things"},
            {"type": "image", "data": "AQID", "mimeType": "image/png"},
            {"type": "resource", "resource": {
                "uri": "attachment:///a%20b%2F%C3%BC.csv", "mimeType": "text/csv", "blob": "MSwy",
            }},
            {"type": "audio", "data": "BA==", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {
                "uri": "attachment:///sum", "mimeType": "application/json", "text": "{\"of\":3}",
            }},
        ])
    );
    let answer = call(&mut client, "hoard", "{}").await;
    let said = answer["result"]["content"][1]["text"].as_str().unwrap();
    assert!(
        said.starts_with("[the file big, 8388609 bytes, left out"),
        "{said}"
    );
    let answer = call(&mut client, "nothing", "{}").await;
    assert_eq!(answer["result"]["content"], json!([]));
}

/// Whatever is listed with an output schema gives a structured result that conforms, or an error.
#[tokio::test]
async fn structured_results_conform_to_the_schemas_that_are_listed() {
    let calls = [
        ("divide", r#"{"dividend":1,"divisor":1}"#),
        ("divide", r#"{"dividend":1,"divisor":0}"#),
        ("point", "{}"),
        ("maybe", r#"{"some":true}"#),
        ("maybe", r#"{"some":false}"#),
        ("word", r#"{"some":true}"#),
        ("word", r#"{"some":false}"#),
        ("nothing", "{}"),
        ("anything", "{}"),
        ("names", "{}"),
        ("many", r#"{"count":3}"#),
        ("many", r#"{"count":100000}"#),
        ("long", r#"{"letters":200000}"#),
        ("long", r#"{"letters":0}"#),
        ("gallery", "{}"),
        ("panics", "{}"),
    ];
    for newer in [false, true] {
        let mut client = Client::new();
        if !newer {
            client.begin().await;
        }
        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        let list = if newer {
            july(1, "tools/list", json!({}))
        } else {
            list
        };
        client.say(list.to_string()).await;
        let listed = client.hear().await;
        let schemas: HashMap<&str, &Value> = listed["result"]["tools"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|tool| Some((tool["name"].as_str()?, tool.get("outputSchema")?)))
            .collect();
        let mut judged = 0;
        for (name, arguments) in calls {
            let arguments: Value = serde_json::from_str(arguments).unwrap();
            let params = json!({"name": name, "arguments": arguments});
            let request = if newer {
                july(2, "tools/call", params)
            } else {
                json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})
            };
            client.say(request.to_string()).await;
            let answer = client.hear().await;
            let result = &answer["result"];
            let structured = result.get("structuredContent");
            match (schemas.get(name), result["isError"] == true) {
                (Some(schema), false) => {
                    let structured = structured.expect("a promised result");
                    let judge = jsonschema::validator_for(schema).unwrap();
                    assert!(
                        judge.is_valid(structured),
                        "{name}: {structured} of {schema}"
                    );
                    // What a client reads that looks at the text alone; an empty one is left out.
                    let text = result["content"][0]["text"].as_str().unwrap_or_default();
                    let is_wrapped = !newer && !["point", "names"].contains(&name);
                    let structured = if is_wrapped {
                        &structured["result"]
                    } else {
                        structured
                    };
                    let same = serde_json::from_str(text)
                        .is_ok_and(|text: Value| &text == structured)
                        || structured == text;
                    assert!(same, "{name}: {text} and {structured}");
                    judged += 1;
                }
                (_, true) | (None, false) => assert_eq!(structured, None, "{name}"),
            }
        }
        assert_eq!(judged, 9);
    }
}

#[tokio::test]
async fn a_result_that_was_cut_is_an_error_where_its_schema_is_listed() {
    let mut client = Client::new();
    let request = july(
        1,
        "tools/call",
        json!({"name": "many", "arguments": {"count": 100_000}}),
    );
    client.say(request.to_string()).await;
    let answer = client.hear().await;
    assert_eq!(answer["result"]["isError"], true);
    assert_eq!(answer["result"]["_meta"], Value::Null);
    let said = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(said.contains("too long"), "{said}");
    let cut = answer["result"]["content"][1]["text"].as_str().unwrap();
    assert!(cut.starts_with("[0,1,2") && cut.contains("characters left out"));
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Wide {
    ids: Vec<Option<u128>>,
    least: i128,
}

/// The far ends.
#[tool(read_only)]
fn wide() -> Wide {
    let ids = vec![None, Some(u128::MAX)];
    let least = i128::MIN;
    Wide { ids, least }
}

/// The far ends of 64 bits.
#[tool(read_only)]
fn narrow() -> (u64, i64) {
    (u64::MAX, i64::MIN)
}

#[tokio::test]
async fn integers_beyond_64_bits_are_sent_exactly_and_as_text_alone() {
    let registry = || Registry::builder().tool(wide).tool(narrow).build().unwrap();
    for revision in ["2025-11-25", "2026-07-28"] {
        let server = contract_mcp::Server::new(registry());
        let mut client = Client::of(server, 1 << 16, Seen::default());
        let is_new = revision == "2026-07-28";
        if !is_new {
            client.begin().await;
        }
        let ask = |method: &str, params: Value| {
            let old = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
            if is_new { july(1, method, params) } else { old }
        };
        client.say(ask("tools/list", json!({})).to_string()).await;
        let listed = client.hear().await;
        let tools = listed["result"]["tools"].as_array().unwrap();
        let has_schema = tools.iter().map(|tool| tool.get("outputSchema").is_some());
        assert_eq!(has_schema.collect::<Vec<_>>(), [true, false], "{listed}");
        client
            .say(ask("tools/call", json!({"name": "wide"})).to_string())
            .await;
        let answer = client.hear().await;
        let result = &answer["result"];
        let exact = r#"{"ids":[null,340282366920938463463374607431768211455],"least":-170141183460469231731687303715884105728}"#;
        assert_eq!(result["content"][0]["text"], exact);
        assert_eq!(result["isError"], false);
        assert_eq!(result.get("structuredContent"), None);
        client
            .say(ask("tools/call", json!({"name": "narrow"})).to_string())
            .await;
        let answer = client.hear().await;
        assert!(
            answer["result"].get("structuredContent").is_some(),
            "{answer}"
        );
    }
}
