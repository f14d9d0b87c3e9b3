//! How long a connection lives.

use std::time::Duration;

use contract_mcp::{self, ImportError, Importer};
use contract_runtime::Status;
use contract_runtime::prelude::*;
use serde_json::{Value, json};

use crate::fake::{Fake, bare, call, within};

#[tokio::test]
async fn a_server_that_goes_ends_the_call_and_all_later_ones() {
    let fake = Fake::new(json!([bare("tool")])).on("tools/call", |_| vec![Value::Null]);
    let (registry, _heard) = fake.registry().await;
    for _ in 0..2 {
        let outcome = call(&registry, "tool", "").await;
        assert_eq!(outcome.status(), Status::Failed);
        let error = outcome.error().unwrap();
        assert!(error.contains("the server has disconnected"), "{error}");
    }
}

#[tokio::test]
async fn the_connection_lives_as_long_as_a_tool() {
    let (imported, mut heard) = Fake::new(json!([bare("a"), bare("b")]))
        .import()
        .await
        .unwrap();
    let registry = Registry::builder()
        .with(imported)
        .only(["a"])
        .build()
        .unwrap();
    assert_eq!(call(&registry, "a", "").await.output(), Some("done"));
    drop(registry);
    heard.end().await;
}

#[tokio::test]
async fn a_connection_that_is_closed_is_closed_for_its_tools() {
    let (imported, mut heard) = Fake::new(json!([bare("tool")])).import().await.unwrap();
    let connection = imported.connection();
    let registry = Registry::builder().with(imported).build().unwrap();
    assert!(!connection.is_closed());
    within(connection.close()).await;
    within(connection.close()).await;
    assert!(connection.is_closed());
    heard.end().await;
    let outcome = call(&registry, "tool", "").await;
    assert!(
        outcome
            .error()
            .unwrap()
            .contains("the server has disconnected")
    );
}

#[tokio::test]
async fn a_call_from_a_thread_of_no_runtime_works() {
    let (registry, _heard) = Fake::new(json!([bare("tool")])).registry().await;
    let called = tokio::task::spawn_blocking(move || {
        std::thread::spawn(move || registry.call(ToolCall::new("1", "tool", "")).blocking())
            .join()
            .unwrap()
    });
    let outcome = within(called).await.unwrap();
    assert_eq!(outcome.output(), Some("done"), "{outcome:?}");
}

#[tokio::test]
async fn a_program_that_cannot_be_started_is_named() {
    let error = contract_mcp::command(std::process::Command::new("/nonexistent/server"))
        .map(|_| ())
        .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("cannot start `/nonexistent/server`"),
        "{error}"
    );
}

/// What importing from a shell script gives, which is no server.
async fn refused(script: &str) -> ImportError {
    let mut command = std::process::Command::new("sh");
    command.args(["-c", script]);
    // Shorter than the time that rmcp gives the first question; what ends by itself does not wait for it.
    let importer = Importer::new().start_timeout(Duration::from_secs(5));
    let child = contract_mcp::command(command).unwrap();
    within(importer.import(child))
        .await
        .map(|_| ())
        .unwrap_err()
}

#[tokio::test]
async fn a_program_that_ends_is_named_with_how_it_ended() {
    let error = refused("exit 3").await;
    assert_eq!(
        error.to_string(),
        "`sh` ended before the connection was made (exit status: 3); what it wrote to its standard error may say why",
    );
    let ImportError::Exited { status, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(status.code(), Some(3));
    // After it was asked, too.
    let error = refused("read line; exit 4").await;
    assert!(error.to_string().contains("exit status: 4"), "{error}");
}

#[tokio::test]
async fn the_first_line_of_a_program_that_ends_is_shown_and_harmless() {
    let error = refused(r"printf '\n\033[2Jusage: sh FILE\nmore\n'; exit 2").await;
    assert_eq!(
        error.to_string(),
        r"`sh` ended before the connection was made (exit status: 2) after it wrote `\u{1b}[2Jusage: sh FILE` to its standard output; what it wrote to its standard error may say why",
    );
    let error = refused("head -c 100000 /dev/zero | tr '\\0' x; exit 2").await;
    assert!(error.to_string().len() < 500, "{error}");
}

#[tokio::test]
async fn what_a_program_wrote_is_shown_though_it_ended_before_it_was_asked() {
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "echo usage; exit 2"]);
    let child = contract_mcp::command(command).unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let error = within(Importer::new().import(child)).await.err();
    let error = error.map(|error| error.to_string()).unwrap_or_default();
    assert!(error.contains("after it wrote `usage`"), "{error}");
}

#[tokio::test]
async fn a_program_that_speaks_something_else_is_no_server() {
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "echo Welcome.; exec sleep 1000"]);
    let importer = Importer::new().start_timeout(Duration::from_secs(1));
    let child = contract_mcp::command(command).unwrap();
    let error = within(importer.import(child))
        .await
        .map(|_| ())
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "this is not a server of the Model Context Protocol: `sh` wrote `Welcome.` to its standard output",
    );
}

#[tokio::test]
async fn a_program_that_answers_nonsense_is_no_server_though_it_ends_with_its_input() {
    for answer in [r#"\"result\":{\"hello\":1}"#, r#"\"result\":[]"#] {
        let error = refused(&format!(
            r#"while read -r line; do
                id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
                echo "{{\"jsonrpc\":\"2.0\",\"id\":$id,{answer}}}"
            done"#
        ))
        .await;
        assert!(matches!(error, ImportError::NotMcp { .. }), "{error}");
        assert_eq!(
            error.to_string(),
            "this is not a server of the Model Context Protocol: its answer to the handshake does not follow the protocol",
        );
    }
}

#[tokio::test]
async fn a_program_whose_connection_failed_is_ended() {
    let folder = std::env::temp_dir().join(format!("contract-import-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("pid");
    let mut command = std::process::Command::new("sh");
    command
        .arg("-c")
        .arg("echo $$ >\"$0\"; exec sleep 1000")
        .arg(&file);
    let importer = Importer::new().start_timeout(Duration::from_secs(1));
    let child = contract_mcp::command(command).unwrap();
    let error = within(importer.import(child))
        .await
        .map(|_| ())
        .unwrap_err();
    assert!(matches!(error, ImportError::Timeout(_)), "{error}");
    let pid = std::fs::read_to_string(&file).unwrap();
    let lives = || {
        let mut signal = std::process::Command::new("sh");
        signal
            .arg("-c")
            .arg(format!("kill -0 {} 2>/dev/null", pid.trim()));
        signal.status().unwrap().success()
    };
    within(async {
        while lives() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    std::fs::remove_dir_all(folder).unwrap();
}

/// Remove a file.
#[tool]
fn remove(path: String) -> String {
    path
}

#[tokio::test]
async fn tools_that_our_own_server_replaces_are_announced() {
    let server = contract_mcp::Server::new(Registry::builder().build().unwrap());
    let tools = server.tools();
    let (ours, far) = tokio::io::duplex(1 << 16);
    let (read, write) = tokio::io::split(far);
    tokio::spawn(server.streams(read, write));
    // Of the older revision, whose clients are told without asking.
    let handler = contract_mcp::rmcp::model::ClientConfig::default();
    let client = contract_mcp::rmcp::serve_client(Told::new(handler), tokio::io::split(ours));
    let client = within(client).await.unwrap();
    assert!(within(client.list_all_tools()).await.unwrap().is_empty());
    tools
        .replace(Registry::builder().tool(remove).build().unwrap())
        .unwrap();
    within(client.service().told.notified()).await;
    let listed = within(client.list_all_tools()).await.unwrap();
    assert_eq!(listed[0].name, "remove");
}

/// A client of the official SDK that notes what it is told.
struct Told {
    config: contract_mcp::rmcp::model::ClientConfig,
    told: tokio::sync::Notify,
}

impl Told {
    fn new(config: contract_mcp::rmcp::model::ClientConfig) -> Self {
        Self {
            config,
            told: tokio::sync::Notify::new(),
        }
    }
}

impl contract_mcp::rmcp::ClientHandler for Told {
    fn get_info(&self) -> contract_mcp::rmcp::model::ClientConfig {
        self.config.clone()
    }

    async fn on_tool_list_changed(
        &self,
        _: contract_mcp::rmcp::service::NotificationContext<contract_mcp::rmcp::RoleClient>,
    ) {
        self.told.notify_one();
    }
}
