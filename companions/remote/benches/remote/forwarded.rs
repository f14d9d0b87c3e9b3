//! Calls to executors that are connected to the home of their task, beside calls to executors whose connection another
//! backend forwards.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use contract_manifest::ToManifest as _;
use contract_remote::store::{RedisOptions, RedisStore};
use contract_remote::{Backend, BackendHandle, Executor, ExecutorHandle, Safeguards, Session};
use tokio::task::JoinSet;

use crate::server::Server;
use crate::tools::{call, registry};

/// Bytes of the arguments.
const BYTES: usize = 512;

/// Rounds of each row, of which the best counts.
const ROUNDS: usize = 7;

/// How long a round takes, about.
const ROUND: Duration = Duration::from_millis(700);

/// Executors whose tasks have one home, and what must live as long as they do.
struct House {
    sessions: Vec<Session>,
    _executors: Vec<ExecutorHandle>,
}

impl House {
    /// `dialled`: the backend that the executors connect to.
    async fn new(
        home: &BackendHandle,
        dialled: &BackendHandle,
        executors: usize,
    ) -> Result<Self, Box<dyn Error>> {
        let (anywhere, _) = dialled.task().await?;
        let base = anywhere.address().rsplit_once('/').ok_or("an address")?.0;
        let (mut sessions, mut running) = (Vec::new(), Vec::new());
        for _ in 0..executors {
            let (task, token) = home.task().await?;
            let executor = Executor::new(registry()?);
            running.push(executor.connect(format!("{base}/{}", task.id()), token));
            sessions.push(task.attached().await?);
        }
        Ok(Self {
            sessions,
            _executors: running,
        })
    }

    /// Calls per second, so many at once for each executor.
    #[allow(clippy::cast_precision_loss, reason = "a figure for people")]
    async fn round(&self, at_once: usize) -> Result<f64, Box<dyn Error>> {
        let (begun, made) = (Instant::now(), Arc::new(AtomicUsize::new(0)));
        let mut callers = JoinSet::new();
        for session in &self.sessions {
            for _ in 0..at_once {
                let (tools, made) = (session.registry().clone(), Arc::clone(&made));
                callers.spawn(async move {
                    while begun.elapsed() < ROUND {
                        let outcome = tools.call(call(BYTES)).await;
                        assert!(outcome.is_ok(), "{outcome:?}");
                        made.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        }
        while let Some(ended) = callers.join_next().await {
            ended?;
        }
        Ok(made.load(Ordering::Relaxed) as f64 / begun.elapsed().as_secs_f64())
    }
}

pub(crate) async fn run() -> Result<(), Box<dyn Error>> {
    let server = Server::start();
    let backend = async |name: &str| -> Result<BackendHandle, Box<dyn Error>> {
        let store = RedisStore::new(RedisOptions::new(server.address()))?;
        let backend = Backend::new(registry()?.manifest())
            .shared(&store, name)
            .safeguards(Safeguards::off());
        Ok(backend.bind("127.0.0.1:0").await?)
    };
    let (home, other) = (backend("home").await?, backend("other").await?);
    println!(
        "{:<44} {:>9} {:>9} {:>7}",
        "calls per second, 512 bytes, Redis", "at home", "forwarded", "of it"
    );
    for (executors, at_once) in [(1, 1), (1, 16), (16, 1), (16, 4)] {
        let near = House::new(&home, &home, executors).await?;
        let far = House::new(&home, &other, executors).await?;
        let (mut at_home, mut forwarded) = (0.0_f64, 0.0_f64);
        for _ in 0..ROUNDS {
            at_home = at_home.max(near.round(at_once).await?);
            forwarded = forwarded.max(far.round(at_once).await?);
        }
        let what = format!("{executors} executors, {at_once} at once for each");
        let ratio = forwarded / at_home;
        println!("{what:<44} {at_home:>9.0} {forwarded:>9.0} {ratio:>7.2}");
    }
    Ok(())
}
