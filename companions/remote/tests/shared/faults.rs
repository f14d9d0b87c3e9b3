//! A Redis that is killed, stopped, partitioned or empty while calls run, with the executor at another backend than the home.
//!
//! `REDIS_FAULTS=200` goes on until so many faults have happened, and stops the server for 40 s instead of 5 s now and then.

use std::collections::BTreeMap;
use std::path::PathBuf;

use contract_manifest::ToManifest as _;
use contract_remote::Journal;
use contract_remote::protocol::TaskId;
use contract_remote::store::StoreError;
use futures_util::{StreamExt as _, stream};
use tokio::sync::mpsc;
use tokio::task::{JoinSet, block_in_place};
use tokio::time::{Instant, sleep};

use super::*;
use crate::judge::{Allowed, Seen, judge_task};
use crate::link::{Goal, Link};
use crate::sides::tool;

/// For what a busy machine may take its time with, a server that was stopped for long included.
const PATIENCE: Duration = Duration::from_secs(180);

const CALLS: u64 = 24;
/// Calls at once.
const WIDE: usize = 4;
/// So many runs at a time: most of the time they wait.
const AT_ONCE: usize = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The server is killed, and started again with what is on its disk.
    Killed,
    /// It stands still for so many seconds.
    Stopped(u64),
    /// Nothing passes between it and the home, the host or both, and then what was held passes.
    Held(Ways),
    /// The same, and what was held is lost.
    Partitioned(Ways),
    /// It is killed, and another one takes its place that has nothing.
    Emptied,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ways {
    Home,
    Host,
    Both,
}

const FAULTS: [Fault; 9] = [
    Fault::Killed,
    Fault::Stopped(5),
    Fault::Held(Ways::Home),
    Fault::Held(Ways::Host),
    Fault::Held(Ways::Both),
    Fault::Partitioned(Ways::Home),
    Fault::Partitioned(Ways::Host),
    Fault::Partitioned(Ways::Both),
    Fault::Emptied,
];

/// How a call ended for the one who made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Done,
    NotRun,
    Unknown,
}

/// Folder of an executor, until it is dropped.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// One run: a server, two backends, each on a way of its own to it, and an executor.
struct Run {
    server: Server,
    ways: [Link; 2],
    line: Link,
    folder: Folder,
    home: BackendHandle,
    host: BackendHandle,
    /// Has a way of its own, which nothing happens to.
    store: RedisStore,
}

fn options(address: String) -> RedisOptions {
    let mut options = RedisOptions::new(address);
    options.attempt = Duration::from_millis(500);
    options.patience = Duration::from_secs(3);
    options.breaker_span = Duration::from_secs(1);
    options.breaker_rest = Duration::from_millis(200);
    options
}

fn goal(task: &Task) -> Goal {
    let host = task.address().trim_start_matches("ws://");
    Goal::Host(host.split('/').next().unwrap_or_default().to_owned())
}

impl Run {
    async fn new() -> Result<Self, Box<dyn std::error::Error>> {
        let server = block_in_place(Server::start);
        let socket = Goal::Socket(server.folder().join("s"));
        let ways = [Link::new(socket.clone()).await?, Link::new(socket).await?];
        let name = format!("remote-shared-{}", uuid::Uuid::new_v4().simple());
        let folder = Folder(std::env::temp_dir().join(name));
        std::fs::create_dir(&folder.0)?;
        let mut backends = Vec::new();
        for (name, way) in ["home", "host"].into_iter().zip(&ways) {
            let store = RedisStore::new(options(format!("redis://{}", way.address)))?;
            let known = sides::tools(&folder.0, Duration::ZERO)?.manifest();
            let backend = Backend::new(known)
                .shared(&store, name)
                .safeguards(Safeguards::off());
            backends.push(backend.bind("127.0.0.1:0").await?);
        }
        let host = backends.pop().ok_or("two")?;
        let home = backends.pop().ok_or("two")?;
        let (anywhere, _) = host.task().await?;
        Ok(Self {
            store: RedisStore::new(options(server.address()))?,
            line: Link::new(goal(&anywhere)).await?,
            server,
            ways,
            folder,
            home,
            host,
        })
    }

    fn executor(
        &self,
        task: TaskId,
        token: Token,
        journal: &str,
    ) -> Result<ExecutorHandle, Box<dyn std::error::Error>> {
        let reconnect = Reconnect::default()
            .first(Duration::from_millis(10))
            .most(Duration::from_millis(200));
        let tools = sides::tools(&self.folder.0, Duration::from_millis(10))?;
        let executor = Executor::new(tools)
            .journal(Journal::open(self.folder.0.join(journal))?)
            .reconnect(reconnect);
        let address = format!("ws://{}/executor/{task}", self.line.address);
        Ok(executor.connect(address, token))
    }

    async fn strike(&mut self, fault: Fault) {
        let ways = |ways| match ways {
            Ways::Home => &self.ways[..1],
            Ways::Host => &self.ways[1..],
            Ways::Both => &self.ways[..],
        };
        match fault {
            Fault::Killed => block_in_place(|| {
                self.server.kill();
                self.server.run();
            }),
            Fault::Stopped(seconds) => {
                self.server.stop();
                sleep(Duration::from_secs(seconds)).await;
                self.server.go_on();
            }
            // Longer than the store is waited for.
            Fault::Held(these) | Fault::Partitioned(these) => {
                ways(these).iter().for_each(Link::stop);
                sleep(Duration::from_secs(4)).await;
                let end = match fault {
                    Fault::Held(_) => Link::go_on,
                    _ => Link::cut,
                };
                ways(these).iter().for_each(end);
            }
            Fault::Emptied => block_in_place(|| {
                self.server.kill();
                let kept = self.server.folder().join("appendonlydir");
                std::fs::remove_dir_all(kept).expect("what it has kept");
                self.server.run();
            }),
        }
    }

    /// Waits until each call that was begun has its end in the store.
    async fn at_rest(&self, task: TaskId) -> Tested {
        let begun = Instant::now();
        loop {
            let calls = self.store.list(task, "call.").await?.len();
            let ends = self.store.list(task, "ending.").await?.len();
            if calls == ends {
                return Ok(());
            }
            if begun.elapsed() > PATIENCE {
                return Err(format!("{calls} calls and {ends} ends").into());
            }
            sleep(Duration::from_millis(50)).await;
        }
    }
}

async fn call(registry: Registry, number: u64) -> (u64, Result<Told, String>) {
    let arguments = format!(r#"{{"number":{number}}}"#);
    let call = ToolCall::new(number.to_string(), tool(number), arguments);
    let Ok(outcome) = timeout(PATIENCE, registry.call(call)).await else {
        return (number, Err("it has no end".into()));
    };
    if outcome.output() == Some(&*number.to_string()) {
        return (number, Ok(Told::Done));
    }
    let told = match outcome.error().unwrap_or_default() {
        told if told.contains("was not run") => Ok(Told::NotRun),
        told if told.contains("unknown outcome") => Ok(Told::Unknown),
        told => Err(told.to_owned()),
    };
    (number, told)
}

/// Notes each end in a log of the store, which is away for a while.
async fn noted(
    store: RedisStore,
    task: TaskId,
    mut ends: mpsc::UnboundedReceiver<u64>,
) -> Result<u64, StoreError> {
    let mut count = 0;
    while let Some(number) = ends.recv().await {
        let begun = Instant::now();
        loop {
            match store.append(task, "told", &number.to_string(), "").await {
                Ok(_) => break,
                Err(error) if begun.elapsed() > PATIENCE => return Err(error),
                Err(_) => sleep(Duration::from_millis(50)).await,
            }
        }
        count += 1;
    }
    Ok(count)
}

/// What was done fits with what callers were told.
fn compare(folder: &Folder, told: &BTreeMap<u64, Told>) {
    let marks = std::fs::read_to_string(folder.0.join("marks")).unwrap_or_default();
    for number in 0..CALLS {
        let mark = format!("{} {number}", tool(number));
        let times = marks.lines().filter(|line| *line == mark).count();
        let most = if tool(number) == "mark" { 1 } else { 3 };
        match told.get(&number) {
            Some(Told::Done) => assert!((1..=most).contains(&times), "{mark}: {times}"),
            Some(Told::Unknown) => assert!(times <= most, "{mark}: {times}"),
            Some(Told::NotRun) => assert_eq!(times, 0, "{mark}"),
            None => panic!("{mark} was not answered"),
        }
    }
}

/// One fault after so many answers.
async fn one(
    fault: Fault,
    after: usize,
    at_home: bool,
) -> Result<Seen, Box<dyn std::error::Error>> {
    let mut run = Run::new().await?;
    let (task, token) = run.home.task().await?;
    if at_home {
        run.line.lead_to(goal(&task));
    }
    let executor = run.executor(task.id(), token, "journal")?;
    let session = timeout(PATIENCE, task.attached()).await??;
    let (note, ends) = mpsc::unbounded_channel();
    let noting = tokio::spawn(noted(run.store.clone(), task.id(), ends));
    let (mut told, mut open, mut next, mut struck) = (BTreeMap::new(), JoinSet::new(), 0, false);
    loop {
        while next < CALLS && open.len() < WIDE {
            open.spawn(call(session.registry().clone(), next));
            next += 1;
        }
        if told.len() >= after && !std::mem::replace(&mut struck, true) {
            run.strike(fault).await;
        }
        let Some(ended) = open.join_next().await else {
            break;
        };
        let (number, ended) = ended?;
        told.insert(
            number,
            ended.map_err(|why| format!("call {number}: {why}"))?,
        );
        let _ = note.send(number);
    }
    drop(note);
    let noted = timeout(PATIENCE, noting).await???;
    let mut seen = Seen::default();
    seen.faults += 1;
    if fault == Fault::Emptied {
        // The tasks are gone; what ran is known, and there are new ones.
        drop(executor);
        let (task, token) = run.home.task().await?;
        let _executor = run.executor(task.id(), token, "another")?;
        let session = timeout(PATIENCE, task.attached()).await??;
        let (_, answer) = call(session.registry().clone(), CALLS).await;
        assert_eq!(answer, Ok(Told::Done));
        compare(&run.folder, &told);
        return Ok(seen);
    }
    // What could not be written is brought by a handshake.
    run.line.cut();
    run.at_rest(task.id()).await?;
    task.finish(true, "done").await;
    timeout(PATIENCE, executor.ended()).await??;
    compare(&run.folder, &told);
    let allowed = Allowed {
        not_run: true,
        ..Allowed::default()
    };
    let (store, folder) = (&run.store, &run.folder.0);
    judge_task(store, task.id(), folder, (CALLS, true), allowed, &mut seen).await?;
    let log = run.store.tail(task.id(), "told", 0, 1_000).await?;
    let sequences: Vec<u64> = log.entries.iter().map(|entry| entry.sequence).collect();
    assert_eq!(
        sequences,
        (1..=noted).collect::<Vec<_>>(),
        "the log has a gap"
    );
    assert_eq!(noted, CALLS);
    drop(run.host);
    Ok(seen)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_go_on_while_the_server_is_killed_stopped_or_cut_off() -> Tested {
    let wanted = std::env::var("REDIS_FAULTS");
    let wanted: Option<usize> = wanted.ok().and_then(|wanted| wanted.parse().ok());
    let runs = (0..wanted.unwrap_or(FAULTS.len())).map(|number| {
        let fault = match FAULTS[number % FAULTS.len()] {
            Fault::Stopped(_) if number > 0 && number % 5 == 0 => Fault::Stopped(40),
            fault => fault,
        };
        // At another place in each round, and at the home itself in each third.
        let round = number / FAULTS.len();
        let (after, at_home) = ((number * 5 + round * 3) % 20, round % 3 == 2);
        async move {
            let run = timeout(PATIENCE * 3, one(fault, after, at_home)).await;
            let place = format!("{fault:?} after {after}, at home {at_home}");
            match run {
                Ok(Ok(seen)) => Ok(seen),
                Ok(Err(why)) => Err(format!("{place}: {why}")),
                Err(_) => Err(format!("{place} does not end")),
            }
        }
    });
    let mut seen = Seen::default();
    let mut ended = stream::iter(runs).buffer_unordered(AT_ONCE);
    while let Some(more) = ended.next().await {
        seen.add(&more?);
    }
    println!("{seen:?}");
    assert!(seen.faults >= FAULTS.len() as u64, "{seen:?}");
    Ok(())
}
