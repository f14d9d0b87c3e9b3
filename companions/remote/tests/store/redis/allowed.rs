//! A user that may do what is needed, and nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use contract_manifest::ToManifest as _;
use contract_remote::protocol::TaskId;
use contract_remote::store::{Expect, RedisStore, Store};
use contract_remote::{Backend, Executor};
use contract_runtime::prelude::*;
use tokio::time::timeout;

use super::patient;
use crate::server::Server;

const SECRET: &str = "who reads this";
const SOON: Duration = Duration::from_secs(60);

/// Add one.
#[tool]
fn more(number: i64) -> i64 {
    number + 1
}

fn store(server: &Server) -> RedisStore {
    let mut options = patient(server.address());
    options.user = Some("teller".into());
    options.password = Some(SECRET.into());
    RedisStore::new(options).unwrap()
}

fn user(rule: &str) -> Server {
    let mut settings = vec!["--user", "teller", "on", "nopass", "~contract:*"];
    settings.extend(rule.split(' '));
    Server::with(&settings)
}

/// The rule that is advised to one who may do next to nothing.
async fn advised() -> String {
    let server = user("+get");
    let error = store(&server)
        .read(TaskId::random(), "a")
        .await
        .unwrap_err();
    let told = error.to_string();
    let rule = told.split('`').find(|part| part.starts_with("+evalsha"));
    rule.unwrap_or_else(|| panic!("{told}")).to_owned()
}

/// What stands between two texts, wherever both are found in this order in one line.
fn between<'t>(text: &'t str, open: &'t str, close: &'t str) -> impl Iterator<Item = &'t str> {
    let pieces = text.split(open).skip(1);
    pieces.filter_map(move |piece| Some(piece.lines().next()?.split_once(close)?.0))
}

/// Every command that a source below a folder names.
fn named_below(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
        if path.is_dir() {
            named_below(&path, found);
        } else if !is_test {
            let text = fs::read_to_string(&path).unwrap();
            for call in
                between(&text, "redis.call(", ")").chain(between(&text, "redis.pcall(", ")"))
            {
                let mut words = call.split(',').map(|word| word.trim().trim_matches('\''));
                let command = words.next().unwrap_or_default().to_lowercase();
                found.insert(match command.as_str() {
                    "xgroup" => {
                        format!("xgroup|{}", words.next().unwrap_or_default().to_lowercase())
                    }
                    _ => command,
                });
            }
            found.extend(between(&text, "cmd(\"", "\")").map(str::to_lowercase));
        }
    }
}

#[tokio::test]
async fn what_is_advised_is_what_is_sent() {
    let rule = advised().await;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // These two are how the client runs a script.
    let mut sent = BTreeSet::from(["evalsha".to_owned(), "script|load".to_owned()]);
    named_below(&root.join("src"), &mut sent);
    let told = rule
        .split(' ')
        .map(|word| word.trim_start_matches('+').to_owned());
    assert_eq!(told.collect::<BTreeSet<_>>(), sent);
    let page = fs::read_to_string(root.join("../../docs/src/several-backends.md")).unwrap();
    let page = page.replace(" \\\n ", "");
    assert!(page.contains(&rule), "the page does not show {rule}");
}

#[tokio::test]
async fn who_may_do_what_is_advised_can_do_everything() {
    let server = user(&advised().await);
    let kept = store(&server);
    let task = TaskId::random();
    let _ = kept.write(task, "a", "1", Expect::Absent).await.unwrap();
    assert_eq!(kept.read(task, "a").await.unwrap().unwrap().value, "1");
    assert_eq!(kept.list(task, "").await.unwrap().len(), 1);
    kept.remove(task, &["a"]).await.unwrap();
    kept.append(task, "log", "1", "begun").await.unwrap();
    assert_eq!(
        kept.tail(task, "log", 0, 10).await.unwrap().entries.len(),
        1
    );
    assert_eq!(kept.tasks().await.unwrap(), [task]);
    kept.forget(task).await.unwrap();
    assert_eq!(kept.read(task, "a").await.unwrap(), None);

    // An executor at another backend than its task, so that messages are handed on.
    let tools = Registry::builder().tool(more).build().unwrap();
    let listens = async |name: &str| {
        let backend = Backend::new(tools.manifest()).shared(&kept, Arc::<str>::from(name));
        backend.bind("127.0.0.1:0").await.unwrap()
    };
    let (home, host) = (listens("home").await, listens("host").await);
    let (task, token) = home.task().await.unwrap();
    let (there, _) = host.task().await.unwrap();
    let place = there.address().rsplit_once('/').unwrap().0;
    let executor = Executor::new(tools.clone()).connect(format!("{place}/{}", task.id()), token);
    let session = timeout(SOON, task.attached()).await.unwrap().unwrap();
    let call = ToolCall::new("1", "more", r#"{"number":1}"#);
    let outcome = timeout(SOON, session.registry().call(call)).await.unwrap();
    assert_eq!(outcome.output(), Some("2"), "{outcome:?}");
    session.finish(true, "").await;
    timeout(SOON, executor.ended()).await.unwrap().unwrap();
}
