//! Many random faults, one after the other, while calls run.

use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use tokio::time::{sleep, timeout};

use crate::judge::{Allowed, Seen, judge};
use crate::processes::{Folder, Side};
use crate::proxy::{From, Place, Proxy, Rough};
use crate::sides::{Done, Manner};

/// For what a busy machine may take its time with.
const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Cut,
    KillBackend,
    KillExecutor,
    GiveUp,
    StopBackend,
    StopExecutor,
}

impl Fault {
    /// Whether a side is stopped, which is tried once at each place: it takes its time.
    fn stops(self) -> bool {
        matches!(self, Self::StopBackend | Self::StopExecutor)
    }

    /// The places at which it happens; the sides are stopped at few, as each takes its time.
    fn places(self, long: bool) -> Vec<(From, bool)> {
        use From::{Backend, Executor};
        match self {
            _ if self.stops() && !long => vec![(Executor, true)],
            _ => vec![
                (Executor, false),
                (Executor, true),
                (Backend, false),
                (Backend, true),
            ],
        }
    }

    fn manner(self) -> Manner {
        let mut manner = Manner::default();
        match self {
            Self::GiveUp => manner.slow = 20,
            Self::StopBackend | Self::StopExecutor => manner.keep_alive = 300,
            Self::Cut | Self::KillBackend | Self::KillExecutor => {}
        }
        manner
    }

    /// A cut leaves nothing in doubt.
    fn allowed(self) -> Allowed {
        Allowed {
            unknown: matches!(self, Self::KillBackend | Self::KillExecutor),
            not_run: self == Self::KillBackend,
            cancelled: self == Self::GiveUp,
        }
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// So many runs at a time: most of the time they wait.
const AT_ONCE: usize = 8;

/// Every fault at every message, before and after it arrives.
pub(crate) async fn run() -> Done {
    let wanted = number("REMOTE_FAULTS").unwrap_or(0);
    let mut seen = Seen::default();
    let mut first = true;
    while first || seen.faults < wanted {
        let stops = cfg!(unix) && first;
        let faults = [
            Fault::Cut,
            Fault::KillBackend,
            Fault::KillExecutor,
            Fault::GiveUp,
            Fault::StopBackend,
            Fault::StopExecutor,
        ];
        let tried = faults.into_iter().filter(|fault| stops || !fault.stops());
        let chains = tried.flat_map(|fault| {
            let places = fault.places(wanted > 0).into_iter();
            places.map(move |(from, arrives)| every_message(fault, from, arrives))
        });
        let mut ended = stream::iter(chains).buffer_unordered(AT_ONCE);
        while let Some(more) = ended.next().await {
            seen.add(&more?);
        }
        seen.add(&killed_at_work().await?);
        first = false;
    }
    println!("{seen:?}");
    // 1 handshake and 3 results, 1 answer, 3 calls and 3 acknowledgements at least, each twice, four faults.
    assert!(seen.faults >= 80, "{seen:?}");
    assert!(seen.is_wide(), "{seen:?}");
    Ok(())
}

/// One fault at each message of one side, until there is no further one.
async fn every_message(
    fault: Fault,
    from: From,
    arrives: bool,
) -> Result<Seen, Box<dyn std::error::Error>> {
    let mut seen = Seen::default();
    for number in 1.. {
        let place = Place {
            from,
            number,
            arrives,
        };
        let run = timeout(PATIENCE, one(place, fault, &mut seen));
        let reached = run
            .await
            .map_err(|_| format!("{fault:?} at {place:?} does not end"))?
            .map_err(|error| format!("{fault:?} at {place:?}: {error}"))?;
        if !reached {
            break;
        }
    }
    Ok(seen)
}

/// One run with one fault; whether its place was reached.
async fn one(
    place: Place,
    fault: Fault,
    seen: &mut Seen,
) -> Result<bool, Box<dyn std::error::Error>> {
    let (folder, manner) = (Folder::new()?, fault.manner());
    let (proxy, reached) = Proxy::new(Some(place), None).await?;
    let mut backend = Side::backend(&folder.0, manner)?;
    let address = backend.address(&proxy).await?;
    let token = std::fs::read_to_string(folder.0.join("token"))?;
    let executor = || Side::executor(&folder.0, manner, (&address, &token));
    let mut acting = executor()?;
    let mut is_reached = false;
    tokio::select! {
        done = backend.done() => done?,
        Ok(go_on) = reached => {
            is_reached = true;
            seen.faults += 1;
            match fault {
                Fault::Cut => drop(go_on),
                Fault::KillBackend => {
                    backend.kill().await?;
                    drop(go_on);
                    backend = Side::backend(&folder.0, manner)?;
                    let again = backend.address(&proxy).await?;
                    assert_eq!(again, address);
                }
                Fault::KillExecutor => {
                    acting.kill().await?;
                    drop(go_on);
                    acting = executor()?;
                }
                Fault::GiveUp => {
                    backend.gives_up().await?;
                    // What has arrived need not lose its line.
                    let _ = go_on.send(());
                }
                Fault::StopBackend | Fault::StopExecutor => {
                    let stopped = if fault == Fault::StopBackend { &backend } else { &acting };
                    stopped.signal("-STOP").await?;
                    let _ = go_on.send(());
                    // More than twice the keep-alive: the other side has taken it for lost.
                    let seconds = number("REMOTE_FAULTS_STOP").unwrap_or(1);
                    sleep(Duration::from_secs(seconds)).await;
                    stopped.signal("-CONT").await?;
                }
            }
            backend.done().await?;
        }
    }
    ends(&mut backend, &mut acting).await?;
    judge(&folder.0, manner.calls, fault.allowed(), seen).await?;
    Ok(is_reached)
}

/// Kills the executor in the middle of each body: when it has left its mark, and goes on for 200 milliseconds.
async fn killed_at_work() -> Result<Seen, Box<dyn std::error::Error>> {
    let mut seen = Seen::default();
    for call in 0..4 {
        let run = timeout(PATIENCE, killed_in(call, &mut seen));
        run.await
            .map_err(|_| format!("killed in call {call}: it does not end"))?
            .map_err(|error| format!("killed in call {call}: {error}"))?;
    }
    Ok(seen)
}

async fn killed_in(call: usize, seen: &mut Seen) -> Done {
    let (mut manner, folder) = (Manner::default(), Folder::new()?);
    (manner.calls, manner.slow) = (4, 400);
    let (proxy, _never) = Proxy::new(None, None).await?;
    let mut backend = Side::backend(&folder.0, manner)?;
    let address = backend.address(&proxy).await?;
    let token = std::fs::read_to_string(folder.0.join("token"))?;
    let mut executor = Side::executor(&folder.0, manner, (&address, &token))?;
    let marks = folder.0.join("marks");
    while std::fs::read_to_string(&marks).map_or(0, |marks| marks.lines().count()) <= call {
        sleep(Duration::from_millis(2)).await;
    }
    executor.kill().await?;
    seen.faults += 1;
    let mut executor = Side::executor(&folder.0, manner, (&address, &token))?;
    backend.done().await?;
    ends(&mut backend, &mut executor).await?;
    let allowed = Fault::KillExecutor.allowed();
    judge(&folder.0, manner.calls, allowed, seen).await
}

async fn ends(backend: &mut Side, executor: &mut Side) -> Done {
    // It was told that the task is over, or finds out when it comes back.
    let ended = timeout(PATIENCE, executor.child.wait()).await??;
    assert!(ended.success(), "the executor ended with {ended}");
    Ok(backend.kill().await?)
}

/// Eight calls at once, over a line that is cut again and again, and says things up to six times and late.
pub(crate) async fn rough() -> Done {
    let seeds = number("REMOTE_FAULTS").map_or(6, |wanted| wanted / 20);
    let mut seen = Seen::default();
    for seed in 1..=seeds {
        let run = timeout(PATIENCE, roughly(seed, &mut seen));
        run.await
            .map_err(|_| format!("seed {seed} does not end"))?
            .map_err(|error| format!("seed {seed}: {error}"))?;
    }
    println!("{seen:?}");
    assert!(seen.faults > 0 && seen.repeated > 0, "{seen:?}");
    Ok(())
}

async fn roughly(number: u64, seen: &mut Seen) -> Done {
    let mut manner = Manner::default();
    (manner.calls, manner.wide, manner.slow) = (16, 8, 5);
    let folder = Folder::new()?;
    let rough = Rough::new(number);
    let (proxy, _never) = Proxy::new(None, Some(rough.clone())).await?;
    let mut backend = Side::backend(&folder.0, manner)?;
    let address = backend.address(&proxy).await?;
    let token = std::fs::read_to_string(folder.0.join("token"))?;
    let mut executor = Side::executor(&folder.0, manner, (&address, &token))?;
    backend.done().await?;
    ends(&mut backend, &mut executor).await?;
    seen.faults += rough.cuts();
    seen.repeated += rough.repeated();
    judge(&folder.0, manner.calls, Allowed::default(), seen).await
}
