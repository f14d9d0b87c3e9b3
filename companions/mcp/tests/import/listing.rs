use contract_mcp::{self, ImportError};
use contract_runtime::Status;
use contract_runtime::prelude::*;
use serde_json::json;

use crate::fake::{Fake, bare, call, refusal, result, text, within};

fn read_file() -> serde_json::Value {
    json!({
        "name": "files.read",
        "title": "Read a file",
        "description": "Gives the text of a file.",
        "inputSchema": {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {"path": {"type": "string", "minLength": 1}},
            "required": ["path"],
            "additionalProperties": false,
        },
        "annotations": {"readOnlyHint": true, "openWorldHint": false},
    })
}

#[tokio::test]
async fn a_tool_comes_over_with_everything_it_says() {
    let (registry, mut heard) = Fake::new(json!([read_file()])).registry().await;
    let tool = registry.tool("files_read").unwrap();
    assert_eq!(tool.title(), Some("Read a file"));
    assert_eq!(tool.description(), "Gives the text of a file.");
    assert_eq!(tool.hints().read_only, Some(true));
    assert_eq!(tool.hints().destructive, None);
    assert_eq!(tool.input_schema()["required"], json!(["path"]));
    assert_eq!(tool.timeout(), Some(std::time::Duration::from_secs(60)));
    let outcome = call(&registry, "files_read", r#"{"path":"a"}"#).await;
    assert_eq!(outcome.output(), Some("done"), "{outcome:?}");
    let sent = heard.next("tools/call").await;
    assert_eq!(sent["params"]["name"], "files.read");
    assert_eq!(sent["params"]["arguments"], json!({"path": "a"}));
}

#[tokio::test]
async fn arguments_are_judged_before_they_travel() {
    let (registry, mut heard) = Fake::new(json!([read_file()])).registry().await;
    for wrong in [
        r#"{"path":""}"#,
        r#"{"path":1}"#,
        "{}",
        r#"{"path":"a","x":1}"#,
        "[",
        r#"{"path":"a","path":"b"}"#,
    ] {
        let outcome = call(&registry, "files_read", wrong).await;
        assert_eq!(outcome.status(), Status::InvalidArguments, "{wrong}");
    }
    assert!(!heard.has("tools/call"));
}

#[tokio::test]
async fn conditions_are_added_to_tools_that_somebody_else_wrote() {
    let (imported, mut heard) = Fake::new(json!([read_file(), bare("other")]))
        .import()
        .await
        .unwrap();
    let imported = imported
        .edit("files_read", |tool| {
            tool.pre("the path is relative", |arguments| {
                arguments["path"]
                    .as_str()
                    .is_some_and(|path| !path.starts_with('/'))
            })
            .post("the text is short", |_, text| {
                text.as_str().is_some_and(|text| text.len() < 4)
            })
        })
        .unwrap();
    let registry = Registry::builder()
        .with(imported)
        .prefix("fs_")
        .build()
        .unwrap();
    let outcome = call(&registry, "fs_files_read", r#"{"path":"/etc/passwd"}"#).await;
    let violation = outcome.violation().unwrap();
    assert_eq!(violation.contract, "files_read.pre[0]");
    assert_eq!(violation.tool, "fs_files_read");
    assert!(violation.location.file.ends_with("listing.rs"));
    assert!(!heard.has("tools/call"));
    let outcome = call(&registry, "fs_files_read", r#"{"path":"a"}"#).await;
    assert_eq!(outcome.violation().unwrap().contract, "files_read.post[1]");
    let told = registry.tool("fs_files_read").unwrap().conditions().len();
    assert_eq!(told, 2);
}

#[tokio::test]
async fn a_condition_for_a_tool_that_is_not_there_is_an_error() {
    let (imported, _heard) = Fake::new(json!([bare("delete_file")]))
        .import()
        .await
        .unwrap();
    let error = imported
        .edit("delete_fiel", |tool| tool.pre("never", |_| false))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the server has no tool named `delete_fiel`; did you mean `delete_file`?"
    );
}

#[tokio::test]
async fn names_that_are_not_legal_here_are_changed_and_remembered() {
    let long = "x".repeat(80);
    let tools = json!([
        bare("a.b c"),
        bare("7up"),
        bare("-x"),
        bare("ü"),
        bare(&long),
        bare("fine-_9")
    ]);
    let (imported, _heard) = Fake::new(tools).import().await.unwrap();
    let cut = "x".repeat(64);
    let names: Vec<_> = imported.names().collect();
    assert_eq!(names, ["a_b_c", "_7up", "_-x", "_", &cut, "fine-_9"]);
    assert_eq!(imported.original("a_b_c"), Some("a.b c"));
    assert_eq!(imported.original(&cut), Some(long.as_str()));
    assert_eq!(imported.original("a.b c"), None);
    Registry::builder().with(imported).build().unwrap();
}

#[tokio::test]
async fn two_tools_with_one_name_are_an_error() {
    for tools in [
        json!([bare("a.b"), bare("a b")]),
        json!([bare("same"), bare("same")]),
    ] {
        let error = Fake::new(tools).import().await.map(|_| ()).unwrap_err();
        assert!(matches!(error, ImportError::Duplicate { .. }), "{error}");
    }
}

#[tokio::test]
async fn all_pages_are_read() {
    let fake = Fake::new(json!([])).on("tools/list", |request| {
        let page = request["params"]["cursor"]
            .as_str()
            .map_or(0, |cursor| cursor.parse().unwrap());
        let mut list = json!({"tools": [bare(&format!("tool_{page}"))]});
        if page < 30 {
            list["nextCursor"] = json!((page + 1).to_string());
        }
        vec![result(request, list)]
    });
    let (imported, _heard) = fake.import().await.unwrap();
    assert_eq!(imported.names().count(), 31);
}

#[tokio::test]
async fn the_newer_revision_is_spoken_where_the_server_knows_it() {
    let fake = Fake::new(json!([bare("now")]))
        .on("initialize", |_| panic!("the handshake of the older revision"))
        .on("server/discover", |request| {
            vec![result(request, json!({
                "resultType": "complete",
                "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {}},
                "ttlMs": 0,
                "cacheScope": "private",
            }))]
        })
        .on("tools/list", |request| {
            let list = json!({"resultType": "complete", "tools": [bare("now")], "ttlMs": 0, "cacheScope": "private"});
            vec![result(request, list)]
        })
        .on("tools/call", |request| vec![text(request, "now")]);
    let (registry, mut heard) = fake.registry().await;
    assert_eq!(call(&registry, "now", "").await.output(), Some("now"));
    let sent = heard.next("tools/call").await;
    let meta = &sent["params"]["_meta"];
    assert_eq!(
        meta["io.modelcontextprotocol/protocolVersion"],
        "2026-07-28"
    );
}

#[tokio::test]
async fn a_server_whose_tools_have_changed_is_heard() {
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    let fake = Fake::new(json!([bare("tool")])).on("tools/call", move |request| {
        vec![changed.clone(), text(request, "done")]
    });
    let (imported, _heard) = fake.import().await.unwrap();
    let connection = imported.connection();
    let registry = Registry::builder().with(imported).build().unwrap();
    assert!(!connection.has_changed());
    assert_eq!(call(&registry, "tool", "").await.output(), Some("done"));
    within(connection.changed()).await;
    assert!(connection.has_changed());
    // What was imported is used as it was.
    assert_eq!(call(&registry, "tool", "").await.output(), Some("done"));
}

#[tokio::test]
async fn what_may_only_be_written_is_shown_nowhere() {
    let login = json!({
        "name": "login",
        "inputSchema": {
            "type": "object",
            "properties": {
                "user": {"type": "string"},
                "password": {"type": "string", "minLength": 4, "writeOnly": true},
            },
        },
    });
    let (imported, _heard) = Fake::new(json!([login])).import().await.unwrap();
    let imported = imported
        .edit("login", |tool| tool.pre("nobody may", |_| false))
        .unwrap();
    let registry = Registry::builder().with(imported).build().unwrap();
    let arguments = r#"{"user":"hunter2!","password":"hunter2!"}"#;
    let outcome = call(&registry, "login", arguments).await;
    let violation = outcome.violation().unwrap();
    assert!(violation.values.get("password").is_some());
    let told = format!("{} {}", json!(violation), outcome.error().unwrap());
    // Under the name of the other argument neither, because it is the same text.
    assert!(!told.contains("hunter2!"), "{told}");
    let outcome = call(&registry, "login", r#"{"password":"abc"}"#).await;
    assert_eq!(outcome.status(), Status::InvalidArguments);
    assert!(!outcome.error().unwrap().contains("abc"), "{outcome:?}");
}

#[tokio::test]
async fn definitions_of_draft_07_are_definitions() {
    let tree = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "root": {"$ref": "#/definitions/node"},
            // A name and a value, and no keyword.
            "definitions": {"const": {"$ref": "#/definitions/node"}},
        },
        "required": ["root"],
        "definitions": {"node": {
            "type": "object",
            "properties": {"next": {"anyOf": [{"$ref": "#/definitions/node"}, {"type": "null"}]}},
            "required": ["next"],
            "additionalProperties": false,
        }},
    });
    let tools = json!([{"name": "walk", "inputSchema": tree, "outputSchema": tree}]);
    let fake = Fake::new(tools).on("tools/call", |request| {
        vec![result(
            request,
            json!({"content": [], "structuredContent": {"root": {"next": null}}}),
        )]
    });
    let (registry, _heard) = fake.registry().await;
    let walked = r##"{"root":{"next":{"next":null}},"definitions":{"$ref":"#/definitions/node"}}"##;
    let outcome = call(&registry, "walk", walked).await;
    assert_eq!(
        outcome.value(),
        Some(json!({"root": {"next": null}})),
        "{outcome:?}"
    );
    let outcome = call(&registry, "walk", r#"{"root":{"next":{"next":1}}}"#).await;
    assert_eq!(
        outcome.invalid_arguments().unwrap().problems()[0].pointer,
        "/root/next/next"
    );
    let schema = registry.tool("walk").unwrap().input_schema();
    assert_eq!(
        schema["properties"]["root"],
        json!({"$ref": "#/$defs/node"})
    );
}

/// Log somebody in.
#[tool]
#[pre(!password.is_empty(), "there must be a password")]
fn log_in(user: String, #[arg(secret)] password: String) -> String {
    format!("{user} with {} letters", password.len())
}

#[tokio::test]
async fn an_argument_that_is_secret_there_is_secret_here() {
    let theirs = Registry::builder().tool(log_in).build().unwrap();
    let (ours, far) = tokio::io::duplex(1 << 16);
    let (read, write) = tokio::io::split(far);
    tokio::spawn(contract_mcp::Server::new(theirs).streams(read, write));
    let imported = within(contract_mcp::import(tokio::io::split(ours)))
        .await
        .unwrap();
    let imported = imported
        .edit("log_in", |tool| {
            tool.pre("not today", |arguments| arguments["user"] != "ada")
        })
        .unwrap();
    let registry = Registry::builder().with(imported).build().unwrap();
    let schema = registry.tool("log_in").unwrap().input_schema();
    assert_eq!(schema["properties"]["password"]["writeOnly"], true);
    assert_eq!(schema["properties"]["user"].get("writeOnly"), None);
    let arguments = r#"{"user":"ada","password":"hunter2!"}"#;
    let outcome = call(&registry, "log_in", arguments).await;
    let told = format!("{} {outcome:?}", json!(outcome.violation().unwrap()));
    assert!(told.contains("ada") && !told.contains("hunter2!"), "{told}");
    let arguments = r#"{"user":"bob","password":"hunter2!"}"#;
    let outcome = call(&registry, "log_in", arguments).await;
    assert_eq!(outcome.output(), Some("bob with 8 letters"));
}

#[tokio::test]
async fn a_server_that_refuses_the_newer_revision_is_asked_in_the_older_one() {
    let refused = |request: &serde_json::Value| {
        let mut answer = refusal(request, -32022, "unsupported");
        answer["error"]["data"] = json!({"supported": ["2025-11-25"], "requested": "2026-07-28"});
        answer
    };
    let older = |request: &serde_json::Value| {
        result(
            request,
            json!({
                "resultType": "complete", "supportedVersions": ["2025-11-25"],
                "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private",
            }),
        )
    };
    let empty = |request: &serde_json::Value| result(request, json!({}));
    let answers: [fn(&serde_json::Value) -> serde_json::Value; 3] = [refused, older, empty];
    for answer in answers {
        let fake = Fake::new(json!([bare("tool")]))
            .on("server/discover", move |request| vec![answer(request)]);
        let (registry, mut heard) = fake.registry().await;
        assert_eq!(call(&registry, "tool", "").await.output(), Some("done"));
        let begun = heard.next("initialize").await;
        assert_eq!(begun["params"]["protocolVersion"], "2025-11-25");
    }
}
