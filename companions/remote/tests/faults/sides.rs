//! The two sides, as processes of their own: each can be ended without a word.

use std::error::Error;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use contract_manifest::ToManifest as _;
use contract_remote::store::{EmbeddedStore, Store};
use contract_remote::{Backend, Executor, Journal, Reconnect, Safeguards};
use contract_runtime::prelude::*;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::sleep;

pub(crate) type Done = Result<(), Box<dyn Error>>;

/// How the two sides work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    pub(crate) calls: u64,
    /// Calls at once.
    pub(crate) wide: u64,
    /// In milliseconds.
    pub(crate) keep_alive: u64,
    /// How long a tool takes, in milliseconds.
    pub(crate) slow: u64,
}

impl Default for Manner {
    fn default() -> Self {
        Self {
            calls: 3,
            wide: 1,
            keep_alive: 15_000,
            slow: 0,
        }
    }
}

impl Manner {
    pub(crate) fn words(self) -> [String; 4] {
        [self.calls, self.wide, self.keep_alive, self.slow].map(|number| number.to_string())
    }

    pub(crate) fn read(words: &[String]) -> Result<Self, Box<dyn Error>> {
        let [calls, wide, keep_alive] = words else {
            return Err("three numbers".into());
        };
        Ok(Self {
            calls: calls.parse()?,
            wide: wide.parse()?,
            keep_alive: keep_alive.parse()?,
            slow: 0,
        })
    }
}

struct Marks {
    path: PathBuf,
    slow: Duration,
}

/// Leave a mark that is never taken back.
#[tool]
async fn mark(#[context] marks: &Marks, number: u64) -> Result<u64, std::io::Error> {
    sleep(marks.slow / 2).await;
    leave(&marks.path, &format!("mark {number}"))?;
    sleep(marks.slow / 2).await;
    Ok(number)
}

/// Leave a mark that may be left twice.
#[tool(idempotent)]
async fn note(#[context] marks: &Marks, number: u64) -> Result<u64, std::io::Error> {
    sleep(marks.slow / 2).await;
    leave(&marks.path, &format!("note {number}"))?;
    sleep(marks.slow / 2).await;
    Ok(number)
}

/// In one write, which is whole or not there.
fn leave(path: &Path, mark: &str) -> Result<(), std::io::Error> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(format!("{mark}\n").as_bytes())
}

pub(crate) fn tools(folder: &Path, slow: Duration) -> Result<Registry, BuildError> {
    Registry::builder()
        .context(Marks {
            path: folder.join("marks"),
            slow,
        })
        .tool(mark)
        .tool(note)
        .build()
}

/// The tool of the n-th call.
pub(crate) fn tool(number: u64) -> &'static str {
    if number.is_multiple_of(2) {
        "mark"
    } else {
        "note"
    }
}

/// Makes calls until there are so many, going on where an earlier process ended.
pub(crate) async fn backend(folder: &Path, manner: Manner) -> Done {
    let store: Arc<dyn Store> = Arc::new(EmbeddedStore::open(folder.join("store"))?);
    let backend = Backend::new(tools(folder, Duration::ZERO)?.manifest())
        .keep_alive(Duration::from_millis(manner.keep_alive))
        .store(Arc::clone(&store))
        .safeguards(Safeguards::off())
        .bind("127.0.0.1:0")
        .await?;
    let task = if let Some(id) = store.tasks().await?.first() {
        backend.reopen(*id).await?.ok_or("the task is gone")?
    } else {
        let (task, token) = backend.task().await?;
        std::fs::write(folder.join("token.new"), token.reveal())?;
        std::fs::rename(folder.join("token.new"), folder.join("token"))?;
        task
    };
    // The parent reads it.
    println!("at {}", task.address());
    task.settled().await;
    // An attempt that was made again is of the same call.
    let begun = store.list(task.id(), "call.").await?;
    let begun = begun
        .iter()
        .filter(|(name, _)| name.ends_with(".0000000001"));
    let begun = begun.count() as u64;
    if begun == manner.calls {
        // The executor may be gone already, because it was told.
        task.finish(true, "done").await;
        println!("done");
        return std::future::pending().await;
    }
    let session = task.attached().await?;
    let mut words = words();
    let mut under_way = JoinSet::new();
    let mut next = begun;
    while next < manner.calls || !under_way.is_empty() {
        if next < manner.calls && (under_way.len() as u64) < manner.wide {
            let (session, number) = (session.clone(), next);
            under_way.spawn(async move {
                let arguments = format!(r#"{{"number":{number}}}"#);
                let call = ToolCall::new(number.to_string(), tool(number), arguments);
                session.registry().call(call).await.status()
            });
            next += 1;
            continue;
        }
        tokio::select! {
            ended = under_way.join_next() => {
                if let Some(Ok(status)) = ended {
                    println!("{status}");
                }
            }
            Some(_) = words.recv() => {
                under_way.shutdown().await;
            }
        }
    }
    session.finish(true, "done").await;
    println!("done");
    // Until the executor has heard it.
    std::future::pending().await
}

/// What the parent says, line by line.
fn words() -> mpsc::UnboundedReceiver<String> {
    let (say, words) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for word in std::io::stdin().lines().map_while(Result::ok) {
            if say.send(word).is_err() {
                break;
            }
        }
    });
    words
}

/// Runs what it is asked to.
pub(crate) async fn executor(folder: &Path, address: &str, token: &str, slow: u64) -> Done {
    let reconnect = Reconnect::default()
        .first(Duration::from_millis(5))
        .most(Duration::from_millis(20));
    let journal = Journal::open(folder.join("journal"))?;
    let executor = Executor::new(tools(folder, Duration::from_millis(slow))?)
        .journal(journal)
        .reconnect(reconnect);
    executor.connect(address, token).ended().await?;
    Ok(())
}
