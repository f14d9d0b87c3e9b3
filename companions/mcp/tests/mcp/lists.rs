use contract_manifest::PortableRule;
use contract_runtime::Registry;
use serde_json::{Value, json};

use super::line::{Client, july};
use super::tools::Seen;

async fn list(client: &mut Client, newer: bool, params: Value) -> Value {
    let request = if newer {
        july(1, "tools/list", params)
    } else {
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params})
    };
    client.say(request.to_string()).await;
    client.hear().await
}

fn tool<'v>(answer: &'v Value, name: &str) -> &'v Value {
    let tools = answer["result"]["tools"].as_array().unwrap();
    tools.iter().find(|tool| tool["name"] == name).unwrap()
}

#[tokio::test]
async fn the_older_revision_lists_results_that_are_no_objects_as_members_of_one() {
    let mut client = Client::new();
    let begun = client.begin().await;
    assert_eq!(begun["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(begun["result"]["serverInfo"]["name"], "contract-mcp");
    let answer = list(&mut client, false, json!({})).await;
    assert_eq!(tool(&answer, "point")["outputSchema"]["type"], "object");
    let divide = &tool(&answer, "divide")["outputSchema"];
    assert_eq!(divide["type"], "object");
    assert_eq!(divide["required"], json!(["result"]));
    assert_eq!(divide["properties"]["result"]["type"], "integer");
    let anything = &tool(&answer, "anything")["outputSchema"];
    assert_eq!(anything["properties"]["result"], json!({}));
    assert_eq!(tool(&answer, "nothing").get("outputSchema"), None);
    assert_eq!(answer["result"].get("ttlMs"), None);
    assert_eq!(answer["result"].get("resultType"), None);
}

#[tokio::test]
async fn the_newer_revision_lists_every_schema_and_says_how_long_it_holds() {
    let mut client = Client::new();
    client
        .say(july(0, "server/discover", json!({})).to_string())
        .await;
    let discovered = client.hear().await;
    assert_eq!(
        discovered["result"]["supportedVersions"],
        json!([
            "2024-11-05",
            "2025-03-26",
            "2025-06-18",
            "2025-11-25",
            "2026-07-28"
        ]),
    );
    let answer = list(&mut client, true, json!({})).await;
    assert_eq!(tool(&answer, "divide")["outputSchema"]["type"], "integer");
    // A schema that is `true` becomes the object that says the same, and takes no tool with it.
    assert_eq!(tool(&answer, "anything")["outputSchema"], json!({}));
    assert_eq!(tool(&answer, "nothing").get("outputSchema"), None);
    assert_eq!(answer["result"]["ttlMs"], 0);
    assert_eq!(answer["result"]["cacheScope"], "private");
    assert_eq!(answer["result"]["resultType"], "complete");
}

#[tokio::test]
async fn pages_hold_every_tool_once_in_order() {
    let mut client = Client::with(|server| server.page(3), 1 << 16);
    client.begin().await;
    let mut names: Vec<String> = Vec::new();
    let mut cursor = json!({});
    loop {
        let answer = list(&mut client, false, cursor).await;
        let page = answer["result"]["tools"].as_array().unwrap();
        assert!((1..=3).contains(&page.len()));
        names.extend(
            page.iter()
                .map(|tool| tool["name"].as_str().unwrap().to_owned()),
        );
        match &answer["result"]["nextCursor"] {
            Value::Null => break,
            next => cursor = json!({"cursor": next}),
        }
    }
    assert!(names.is_sorted(), "{names:?}");
    assert!(names.contains(&"wait".to_owned()) && names.len() > 15);
    for cursor in [json!("nobody"), json!(1), json!({}), json!(["3"])] {
        for newer in [false, true] {
            let answer = list(&mut client, newer, json!({"cursor": cursor})).await;
            assert_eq!(answer["error"]["code"], -32602, "{cursor}");
        }
    }
    let answer = list(&mut client, false, json!({"cursor": null})).await;
    assert!(answer["result"]["tools"].is_array(), "{answer}");
}

#[tokio::test]
async fn contracts_are_listed_as_data_for_those_who_ask() {
    const CONTRACT: &str = "rs.docs.contract-runtime/contract";
    let meta = |answer: &Value| tool(answer, "divide").get("_meta").cloned();
    let asking = json!({CONTRACT: {}});
    for (capabilities, asks) in [
        (json!({}), false),
        (json!({"experimental": {"other": {}}}), false),
        (json!({"experimental": asking}), true),
        (json!({"extensions": asking}), true),
    ] {
        let mut client = Client::new();
        client
            .begin_offering("2025-11-25", capabilities.clone())
            .await;
        let answer = list(&mut client, false, json!({})).await;
        assert_eq!(meta(&answer).is_some(), asks, "{capabilities}");
        let mut request = july(1, "tools/list", json!({}));
        request["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities;
        let mut client = Client::new();
        client.say(request.to_string()).await;
        assert_eq!(meta(&client.hear().await).is_some(), asks);
    }
    let mut client = Client::with(contract_mcp::Server::list_contracts, 1 << 16);
    client.begin().await;
    let answer = list(&mut client, false, json!({})).await;
    let contract = &meta(&answer).unwrap()[CONTRACT];
    let condition = &contract["conditions"][0];
    assert_eq!(condition["id"], "divide.pre[0]");
    assert_eq!(contract["rules"], PortableRule::VERSION);
    assert_eq!(condition["rule"]["rule"], "int(args.divisor) != 0");
}

#[tokio::test]
async fn a_server_has_the_name_of_its_program_and_not_of_this_library() {
    let registry = Registry::builder().build().unwrap();
    let mut client = Client::of(
        contract_mcp::Server::new(registry),
        1 << 16,
        Seen::default(),
    );
    let begun = client.begin().await;
    let name = begun["result"]["serverInfo"]["name"].as_str().unwrap();
    // That of this executable, which cargo has given a hash.
    assert!(name.starts_with("mcp-"), "{name}");
    assert_eq!(begun["result"]["serverInfo"]["version"], "0.0.0");
}
