//! Safeguards of a session, with an executor under control of the test.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use contract_manifest::ToManifest as _;
use contract_runtime::DynamicSpec;
use contract_runtime::{Content, Registry, Tool, ToolCall};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::io::{DuplexStream, duplex};
use tokio::time::{Instant, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_util::sync::CancellationToken;

use super::Session;
use super::connection::serve;
use super::listener::ListenerConfig;
use super::settings::Settings;
use super::task::{OpenTask, Task};
use crate::protocol::TaskId;
use crate::safeguards::{Safeguards, Tripped};
use crate::store::EmbeddedStore;
use crate::store::task_store::TaskStore;

const SOON: Duration = Duration::from_secs(30);
const MINUTE: Duration = Duration::from_secs(60);

/// The executor's end of a connection.
struct Executor(WebSocketStream<DuplexStream>);

impl Executor {
    async fn send(&mut self, message: Value) {
        let said = self.0.send(Message::text(message.to_string())).await;
        said.expect("the backend listens");
    }

    /// The next message of this type.
    async fn hear(&mut self, kind: &str) -> Value {
        loop {
            let frame = self.0.next().await.expect("the connection is open");
            if let Ok(Message::Text(text)) = frame {
                let message: Value = serde_json::from_str(&text).expect("a message");
                if message["type"] == kind {
                    return message;
                }
            }
        }
    }
}

/// An executor with the tool `wait`, attached to a backend of these safeguards.
async fn attached(safeguards: Safeguards) -> (Session, Executor) {
    let spec = DynamicSpec::new("wait", "Wait.");
    let wait = Tool::dynamic(spec, |_| async { Ok::<_, &str>(Content::text("")) });
    let known = Registry::builder().with(wait).build().unwrap();
    let mut settings = Settings::new(known.manifest());
    settings.safeguards = safeguards;
    let store = Arc::new(EmbeddedStore::in_memory().unwrap());
    let id = TaskId::random();
    let open = OpenTask::new(
        id,
        [0; 32],
        Arc::new(settings),
        TaskStore::new(store, id),
        Arc::new(ListenerConfig::default().open((Ipv4Addr::LOCALHOST, 0).into())),
    );
    let (near, far) = duplex(1 << 16);
    tokio::spawn({
        let open = Arc::clone(&open);
        async move {
            let socket = WebSocketStream::from_raw_socket(near, Role::Server, None).await;
            serve(socket, &open, CancellationToken::new()).await;
        }
    });
    let mut executor = Executor(WebSocketStream::from_raw_socket(far, Role::Client, None).await);
    let handshake = json!({"type": "handshake", "payload": {
        "protocol": 1, "task": id, "epoch": 0, "journal": "00000000-0000-4000-8000-00000000000a",
        "known_tools": ["wait"], "custom_tools": [], "unacknowledged": [],
        "platform": {"working_directory": "/", "system": "linux", "architecture": "x86_64", "parallel": 1},
    }});
    executor.send(handshake).await;
    let task = Task {
        open,
        address: "".into(),
    };
    let session = timeout(SOON, task.attached()).await.unwrap().unwrap();
    (session, executor)
}

/// Reports count, and signs of life do not: a call that hangs on an executor that is there ends the run.
#[tokio::test]
async fn an_executor_that_only_answers_pings_is_silent() {
    const REPORTS: u32 = 120;
    let (session, mut executor) = attached(Safeguards::default().call(None)).await;
    let run = tokio::spawn(async move {
        let call = ToolCall::new("1", "wait", "{}");
        session.guard(session.registry().call(call)).await
    });
    let asked = timeout(SOON, executor.hear("run_tool")).await.unwrap();
    // The store has a thread of its own, which no clock waits for; from here on it is not asked.
    tokio::time::pause();
    let begun = Instant::now();
    let talks = async {
        for ping in 0.. {
            executor.hear("ping").await;
            executor.send(json!({"type": "pong"})).await;
            if ping < REPORTS {
                let mut report = asked["payload"].clone();
                report["done"] = ping.into();
                report["message"] = "".into();
                executor
                    .send(json!({"type": "tool_progress", "payload": report}))
                    .await;
            }
        }
    };
    let ended = tokio::select! {
        ended = run => ended.unwrap(),
        () = talks => panic!("it talks for ever"),
    };
    let after = 20 * MINUTE;
    assert!(
        matches!(&ended, Err(Tripped::Silence { after: told }) if *told == after),
        "{ended:?}"
    );
    let talked = REPORTS * Duration::from_secs(15);
    // The first ping was due a little earlier than the clock stood still.
    let took = begun.elapsed() + Duration::from_secs(1);
    assert!(
        took >= talked + after && took < talked + after + MINUTE,
        "{took:?}"
    );
}
