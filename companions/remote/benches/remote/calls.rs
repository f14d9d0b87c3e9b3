//! Latency and throughput of remote calls.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use contract_manifest::ToManifest as _;
use contract_remote::store::EmbeddedStore;
use contract_remote::{Backend, Executor, Journal, Safeguards, Session};
use contract_runtime::Registry;
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{accept_async, client_async};

use crate::tools::{Folder, call, registry};

/// Bytes of the arguments, and of the message that is echoed.
const BYTES: usize = 512;

/// Rounds of each row, of which the best counts.
const ROUNDS: usize = 5;

/// How long a round takes, about.
const ROUND: Duration = Duration::from_millis(700);

/// What one round made.
struct Made {
    calls: usize,
    time: Duration,
}

impl Made {
    #[allow(clippy::cast_precision_loss, reason = "a figure for people")]
    fn per_second(&self) -> f64 {
        self.calls as f64 / self.time.as_secs_f64()
    }
}

/// A backend and its executor, and what must live as long as they do.
struct House {
    tools: Registry,
    _session: Session,
    _alive: Box<dyn std::any::Any + Send>,
}

impl House {
    async fn new(folder: Option<&Path>) -> Result<Self, Box<dyn Error>> {
        let tools = registry()?;
        let mut backend = Backend::new(tools.manifest()).safeguards(Safeguards::off());
        let mut executor = Executor::new(tools);
        if let Some(folder) = folder {
            backend = backend.store(Arc::new(EmbeddedStore::open(folder.join("store"))?));
            executor = executor.journal(Journal::open(folder.join("journal"))?);
        }
        let backend = backend.bind("127.0.0.1:0").await?;
        let (task, token) = backend.task().await?;
        let executor = executor.connect(task.address(), token);
        let session = task.attached().await?;
        Ok(Self {
            tools: session.registry().clone(),
            _session: session,
            _alive: Box::new((backend, executor)),
        })
    }

    async fn round(&self, concurrency: usize) -> Result<Made, Box<dyn Error>> {
        let (begun, made) = (Instant::now(), Arc::new(AtomicUsize::new(0)));
        let mut callers = JoinSet::new();
        for _ in 0..concurrency {
            let (tools, made) = (self.tools.clone(), Arc::clone(&made));
            callers.spawn(async move {
                while begun.elapsed() < ROUND {
                    let outcome = tools.call(call(BYTES)).await;
                    assert!(outcome.is_ok(), "{outcome:?}");
                    made.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        while let Some(ended) = callers.join_next().await {
            ended?;
        }
        Ok(Made {
            calls: made.load(Ordering::Relaxed),
            time: begun.elapsed(),
        })
    }
}

/// Messages that come back as they are, as many at a time.
async fn bare(concurrency: usize) -> Result<Made, Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let echo = tokio::spawn(async move {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let mut socket = accept_async(stream).await?;
        while let Some(Ok(message)) = socket.next().await {
            if !message.is_text() {
                break;
            }
            socket.send(message).await?;
        }
        Ok::<_, Box<dyn Error + Send + Sync>>(())
    });
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (mut socket, _) = client_async(format!("ws://{address}/"), stream).await?;
    let text = "x".repeat(BYTES);
    let (begun, mut calls) = (Instant::now(), 0);
    for _ in 0..concurrency {
        socket.send(Message::text(text.clone())).await?;
    }
    while begun.elapsed() < ROUND {
        socket.next().await.ok_or("the echo is gone")??;
        calls += 1;
        socket.send(Message::text(text.clone())).await?;
    }
    let time = begun.elapsed();
    drop(socket);
    echo.abort();
    Ok(Made { calls, time })
}

pub(crate) async fn run(words: &[&str]) -> Result<(), Box<dyn Error>> {
    let folder = Folder::new()?;
    let houses = [
        ("in memory", House::new(None).await?),
        ("on file", House::new(Some(folder.path())).await?),
    ];
    println!(
        "{:<44} {:>9} {:>9} {:>7}",
        "calls per second, 512 bytes", "ours", "bare", "x"
    );
    for concurrency in [1, 64] {
        for (kept, house) in &houses {
            let what = format!("{concurrency} at once, journal and store {kept}");
            if !words.iter().all(|word| what.contains(word)) {
                continue;
            }
            let (mut best, mut echo) = (0.0_f64, 0.0_f64);
            for _ in 0..ROUNDS {
                best = best.max(house.round(concurrency).await?.per_second());
                echo = echo.max(bare(concurrency).await?.per_second());
            }
            println!("{what:<44} {best:>9.0} {echo:>9.0} {:>7.1}", echo / best);
        }
    }
    Ok(())
}
