use std::sync::{Arc, Mutex};

use contract_mcp::Server;
use contract_runtime::observe::Observer;
use contract_runtime::prelude::*;
use contract_runtime::{Context, Run};
use serde_json::json;

use super::line::Client;
use super::web;

#[tokio::test]
async fn an_observer_of_the_run_is_told_of_every_call_by_its_number() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let (began, ended) = (Arc::clone(&told), Arc::clone(&told));
    let observer = Observer::new()
        .call_began(move |observed| {
            let name = observed.call.name.clone();
            began.lock().unwrap().push((observed.number, name));
            panic!("its panics are its own");
        })
        .call_ended(move |observed, outcome, _| {
            let status = outcome.status().to_string();
            ended.lock().unwrap().push((observed.number, status));
        });
    let run = Run::new().observe(observer);
    let mut client = Client::with(|server| server.run(&run), 1 << 16);
    client.begin().await;
    client
        .call(1, "divide", json!({"dividend": 1, "divisor": 0}))
        .await;
    client.hear().await;
    client.call(1, "nobody", json!({})).await;
    client.hear().await;
    let (numbers, words): (Vec<_>, Vec<_>) = told.lock().unwrap().drain(..).unzip();
    assert_eq!(words, ["divide", "violation", "nobody", "unknown_tool"]);
    assert_eq!((numbers[0], numbers[2]), (numbers[1], numbers[3]));
    assert_ne!(numbers[0], numbers[2]);
    assert_eq!(run.counts().violated, 1);
}

#[derive(Clone)]
pub(crate) struct User(pub(crate) String);

/// Say who is asking.
#[tool(read_only)]
pub(crate) fn who(#[context] user: &User) -> String {
    user.0.clone()
}

#[tokio::test]
async fn a_call_has_the_context_that_its_request_gives_it() -> Result<(), Box<dyn std::error::Error>>
{
    let registry = Registry::builder()
        .tool(who)
        .context(User("nobody".to_owned()))
        .build()?;
    let server = Server::new(registry).context(|asked| {
        assert_eq!((asked.tool(), asked.id()), ("who", "1"));
        match asked.header("x-user") {
            Some("panic") => panic!("a context"),
            Some(user) => Context::new().with(User(user.to_owned())),
            None => Context::new(),
        }
    });
    let web = web::Server::start(server);
    for (header, said) in [
        ("", "nobody"),
        ("X-User: ada\r\n", "ada"),
        ("X-User: panic\r\n", "a fault of the server"),
    ] {
        let answer = web.july("tools/call", json!({"name": "who"}), header).await;
        assert_eq!(answer.status, 200);
        let text = answer.json()["result"]["content"][0]["text"].clone();
        assert!(text.as_str().unwrap().contains(said), "{text}");
    }
    Ok(())
}
