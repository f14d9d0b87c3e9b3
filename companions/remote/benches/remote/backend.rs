//! The backend under storm, as a process of its own: it is told what to do on its standard input, a line each.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use contract_manifest::ToManifest as _;
use contract_remote::store::EmbeddedStore;
use contract_remote::{Backend, Executor, Safeguards, Session};
use tokio::sync::mpsc;

use crate::tools::{call, percentile, registry};

/// Opens the tasks, or those that were open before, and answers until its input ends.
pub(crate) async fn serve(
    address: &str,
    folder: &Path,
    tasks: usize,
) -> Result<(), Box<dyn Error>> {
    let tools = registry()?;
    let backend = Backend::new(tools.manifest())
        .store(Arc::new(EmbeddedStore::open(folder.join("store"))?))
        .safeguards(Safeguards::off())
        .bind(address)
        .await?;
    let list = folder.join("tasks");
    if let Ok(list) = fs::read_to_string(&list) {
        for line in list.lines() {
            let (address, _) = line.split_once(' ').ok_or("a line without a token")?;
            let id = address.rsplit('/').next().unwrap_or_default();
            let task = backend.reopen(id.parse()?).await?;
            let _ = task.ok_or("the store has forgotten a task")?;
        }
    } else {
        let mut lines = String::new();
        for _ in 0..tasks {
            let (task, token) = backend.task().await?;
            writeln!(lines, "{} {}", task.address(), token.reveal())?;
        }
        fs::write(&list, lines)?;
    }
    // One whose calls are timed, in the same process, so that the others alone come from outside.
    let (task, token) = backend.task().await?;
    let _executor = Executor::new(tools).connect(task.address(), token);
    let session = task.attached().await?;
    say(&format!("ready {}", task.address()))?;
    let (heard, mut lines) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            let _ = heard.send(line);
        }
    });
    while let Some(line) = lines.recv().await {
        match &*line {
            "state" => say(&serde_json::to_string(&backend.state())?)?,
            "calls" => say(&calls(&session).await)?,
            other => say(&format!("`{other}` is not understood"))?,
        }
    }
    Ok(())
}

fn say(line: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

/// Calls for three seconds, one after the other: their p50 and p99 in microseconds.
async fn calls(session: &Session) -> String {
    let (begun, mut times) = (Instant::now(), Vec::new());
    let mut failed = 0;
    while begun.elapsed() < Duration::from_secs(3) {
        let one = Instant::now();
        if !session.registry().call(call(512)).await.is_ok() {
            failed += 1;
        }
        times.push(one.elapsed());
    }
    times.sort_unstable();
    let [half, most] = [50, 99].map(|percent| percentile(&times, percent).as_micros());
    format!(
        "{} calls, {failed} failed, p50 {half} µs, p99 {most} µs",
        times.len()
    )
}
