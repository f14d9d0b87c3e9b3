//! Thousands of executors on one backend, which is killed and started again.

use std::error::Error;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use contract_remote::{Executor, ExecutorEvent, ExecutorHandle, Journal};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::{JoinSet, block_in_place};
use tokio::time::sleep;

use crate::tools::{Folder, registry};

/// Sockets that never finish their header.
const HALF_OPEN: usize = 1_000;

/// How long anything may take before the figures are called wrong.
const LATE: Duration = Duration::from_secs(60);

/// The backend, as a process.
struct Process {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    address: String,
}

impl Process {
    fn start(address: &str, folder: &Path, tasks: usize) -> Result<Self, Box<dyn Error>> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["backend", address])
            .arg(folder)
            .arg(tasks.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().ok_or("no input")?;
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        let mut started = Self {
            child,
            input,
            output,
            address: String::new(),
        };
        let ready = started.line()?;
        let address = ready.strip_prefix("ready ws://").ok_or("it is not ready")?;
        let host = address.split('/').next().unwrap_or_default();
        host.clone_into(&mut started.address);
        Ok(started)
    }

    fn line(&mut self) -> Result<String, Box<dyn Error>> {
        let mut line = String::new();
        // The executors work on meanwhile.
        let read = block_in_place(|| self.output.read_line(&mut line))?;
        if read == 0 {
            return Err("the backend is gone".into());
        }
        Ok(line.trim_end().to_owned())
    }

    fn ask(&mut self, what: &str) -> Result<String, Box<dyn Error>> {
        writeln!(self.input, "{what}")?;
        self.line()
    }

    fn attached(&mut self) -> Result<u64, Box<dyn Error>> {
        let state: serde_json::Value = serde_json::from_str(&self.ask("state")?)?;
        state["attached"].as_u64().ok_or_else(|| "no figure".into())
    }

    /// Waits until that many are there: the time it took, from `begun`.
    async fn wait(&mut self, all: usize, begun: Instant) -> Result<Duration, Box<dyn Error>> {
        loop {
            let there = self.attached()?;
            if there >= all as u64 {
                return Ok(begun.elapsed());
            }
            if begun.elapsed() > LATE {
                return Err(format!("{there} of {all} are there after {LATE:?}").into());
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    fn kill(&mut self) -> std::io::Result<()> {
        self.child.kill()?;
        self.child.wait().map(drop)
    }

    /// Resident memory that is its own, in KiB, as Linux tells.
    fn memory(&self) -> Result<u64, Box<dyn Error>> {
        let id = self.child.id();
        let told = fs::read_to_string(format!("/proc/{id}/smaps_rollup"))?;
        let line = told.lines().find(|line| line.starts_with("Pss:"));
        let figure = line.and_then(|line| line.split_whitespace().nth(1));
        Ok(figure.ok_or("no figure")?.parse()?)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

/// Why a connection was lost last, of all executors.
type Told = Arc<Mutex<String>>;

/// The executors of the tasks in the list.
fn executors(list: &str, told: &Told) -> Result<Vec<ExecutorHandle>, Box<dyn Error>> {
    let tools = registry()?;
    // One for all: each of its own would be a thread.
    let journal = Journal::in_memory();
    let connected = list.lines().map(|line| {
        let (address, token) = line.split_once(' ').ok_or("a line without a token")?;
        let (executor, told) = (Executor::new(tools.clone()), Arc::clone(told));
        let executor = executor.journal(journal.clone()).on_event(move |event| {
            if let ExecutorEvent::Lost { reason } = event {
                *told.lock().unwrap_or_else(PoisonError::into_inner) = reason;
            }
        });
        Ok(executor.connect(address, token))
    });
    connected.collect()
}

/// Keeps this many sockets half open until it is dropped.
fn half_open(address: &str) -> JoinSet<()> {
    let mut half = JoinSet::new();
    for _ in 0..HALF_OPEN {
        let address = address.to_owned();
        half.spawn(async move {
            loop {
                let Ok(mut stream) = TcpStream::connect(&address).await else {
                    sleep(Duration::from_millis(50)).await;
                    continue;
                };
                let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n").await;
                let _ = stream.read_to_end(&mut Vec::new()).await;
            }
        });
    }
    half
}

#[allow(clippy::cast_precision_loss, reason = "a figure for people")]
fn each(before: u64, after: u64, executors: usize) -> f64 {
    after.saturating_sub(before) as f64 / executors as f64
}

pub(crate) async fn run(number: usize) -> Result<(), Box<dyn Error>> {
    let folder = Folder::new()?;
    let empty = Folder::new()?;
    let base = Process::start("127.0.0.1:0", empty.path(), 0)?;
    let without = base.memory()?;
    drop(base);
    drop(empty);

    let mut backend = Process::start("127.0.0.1:0", folder.path(), number)?;
    let address = backend.address.clone();
    let tasks = backend.memory()?;
    println!(
        "{number} tasks: {:.1} KiB each",
        each(without, tasks, number)
    );
    let begun = Instant::now();
    let told = Told::default();
    let connected = executors(&fs::read_to_string(folder.path().join("tasks"))?, &told)?;
    let took = backend.wait(number + 1, begun).await?;
    println!(
        "{number} executors are there after {:.1} s",
        took.as_secs_f64()
    );
    // What the handshakes used is free again by then.
    sleep(Duration::from_secs(2)).await;
    let there = backend.memory()?;
    println!(
        "{number} idle executors: {:.1} KiB each above their tasks, {:.0} MiB in all",
        each(tasks, there, number),
        each(0, there, 1024),
    );
    println!("calls of 512 bytes beside them: {}", backend.ask("calls")?);
    let half = half_open(&address);
    sleep(Duration::from_secs(1)).await;
    let during = backend.ask("calls")?;
    println!("the same beside {HALF_OPEN} half-open sockets: {during}");
    println!("state: {}", backend.ask("state")?);
    drop(half);

    backend.kill()?;
    let begun = Instant::now();
    let mut backend = Process::start(&address, folder.path(), number)?;
    let up = begun.elapsed();
    let back = backend.wait(number + 1, begun).await.inspect_err(|_| {
        let told = told.lock().unwrap_or_else(PoisonError::into_inner);
        eprintln!("last heard: {told}");
    })?;
    println!(
        "after a kill the backend is up in {:.1} s, and all {number} executors are back after {:.1} s",
        up.as_secs_f64(),
        back.as_secs_f64(),
    );
    println!("state: {}", backend.ask("state")?);
    println!("calls of 512 bytes then: {}", backend.ask("calls")?);
    drop(connected);
    let wanted = Duration::from_secs(30);
    if back.saturating_sub(up) > wanted {
        return Err(format!("it took longer than {wanted:?} until all were back").into());
    }
    Ok(())
}
