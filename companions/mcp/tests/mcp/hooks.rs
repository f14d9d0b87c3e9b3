use std::sync::{Arc, Mutex};

use contract_mcp::{CallEvent, Server};
use contract_runtime::prelude::*;
use contract_runtime::{Context, Run};
use serde_json::json;

use super::line::Client;
use super::web;

#[tokio::test]
async fn every_call_is_heard_of_twice_and_by_its_number() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let run = Run::new();
    let mut client = Client::with(
        |server| {
            let heard = Arc::clone(&heard);
            server.run(&run).on_call(move |event| {
                heard.lock().unwrap().push(match event {
                    CallEvent::Began { number, call } => format!("{number} {}", call.name),
                    CallEvent::Ended { number, outcome } => {
                        format!("{number} {}", outcome.status())
                    }
                    _ => String::new(),
                });
                // Its panics are its own.
                panic!("a watcher");
            })
        },
        1 << 16,
    );
    client.begin().await;
    client
        .call(1, "divide", json!({"dividend": 1, "divisor": 0}))
        .await;
    client.hear().await;
    client.call(1, "nobody", json!({})).await;
    client.hear().await;
    let heard = heard.lock().unwrap();
    assert_eq!(
        *heard,
        ["0 divide", "0 violation", "1 nobody", "1 unknown_tool"]
    );
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
