//! How long a connection lives.

use contract_runtime::mcp;
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
        assert!(error.contains("the server has gone"), "{error}");
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
    assert!(outcome.error().unwrap().contains("the server has gone"));
}

#[tokio::test]
async fn a_call_from_a_thread_of_no_runtime_works() {
    let (registry, _heard) = Fake::new(json!([bare("tool")])).registry().await;
    let called = tokio::task::spawn_blocking(move || {
        std::thread::spawn(move || registry.call_blocking(ToolCall::new("1", "tool", "")))
            .join()
            .unwrap()
    });
    let outcome = within(called).await.unwrap();
    assert_eq!(outcome.output(), Some("done"), "{outcome:?}");
}

#[tokio::test]
async fn a_program_that_cannot_be_started_is_named() {
    let error = mcp::command(std::process::Command::new("/nonexistent/server"))
        .map(|_| ())
        .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("cannot start `/nonexistent/server`"),
        "{error}"
    );
}

#[tokio::test]
async fn a_program_that_is_no_server_is_an_error() {
    let child = mcp::command(std::process::Command::new("true")).unwrap();
    let error = within(mcp::import(child)).await.map(|_| ()).unwrap_err();
    assert!(matches!(error, mcp::ImportError::Begin(_)), "{error}");
}
