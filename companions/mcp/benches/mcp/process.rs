//! A server as a process, what it has used, and what callgrind counts of it.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use super::client::{self, Load};
use super::servers::{Transport, Which, arguments};

pub(crate) struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Where it listens, if it does.
    address: Option<String>,
    /// Ids that were used.
    sent: usize,
}

impl Server {
    pub(crate) fn start(which: Which, transport: Transport) -> Self {
        let mut command = Command::new(program());
        command.args(arguments(which, transport, false));
        Self::spawn(command, transport)
    }

    fn spawn(mut command: Command, transport: Transport) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let input = child.stdin.take().expect("it is piped");
        let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
        let address = (transport != Transport::Stdio).then(|| {
            let mut line = String::new();
            output.read_line(&mut line).expect("it listens");
            line.trim().to_owned()
        });
        Self {
            child,
            input,
            output,
            address,
            sent: 0,
        }
    }

    /// Makes the calls, and gives the time for all and what the server used of the processor.
    pub(crate) fn round(&mut self, load: &Load) -> (Duration, Option<Duration>) {
        let requests = load.lines(self.sent);
        let is_new = self.sent == 0;
        let used = self.processor();
        let started = Instant::now();
        match &self.address {
            Some(address) => client::web(address, load),
            None => client::lines(&mut self.input, &mut self.output, &requests, load, is_new),
        }
        let wall = started.elapsed();
        self.sent += load.calls;
        let now = self.processor();
        (
            wall,
            now.zip(used).map(|(now, used)| now.saturating_sub(used)),
        )
    }

    /// The processor time of all its threads: Linux counts it in nanoseconds, the first figure of `schedstat`.
    fn processor(&self) -> Option<Duration> {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id())).ok()?;
        let mut all = Duration::ZERO;
        for task in tasks {
            let figures = fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
            let nanoseconds = figures.split(' ').next()?.parse().ok()?;
            all += Duration::from_nanos(nanoseconds);
        }
        Some(all)
    }

    /// Closes its input, and waits for its end.
    pub(crate) fn end(mut self) {
        drop(self.input);
        self.child.wait().expect("it ends");
    }
}

fn program() -> std::path::PathBuf {
    std::env::current_exe().expect("a program has a path")
}

/// Calls that callgrind counts; what it counts of the same server with fewer calls is taken off.
const COUNTED: [usize; 2] = [64, 320];

/// Instructions of the server for one call.
#[allow(clippy::cast_precision_loss, reason = "a figure for people")]
pub(crate) fn instructions(which: Which, transport: Transport, load: &Load) -> Option<f64> {
    let [few, many] = COUNTED.map(|calls| counted(which, transport, &load.times(calls, 1)));
    let calls = COUNTED[1] - COUNTED[0];
    Some(many?.checked_sub(few?)? as f64 / calls as f64)
}

fn counted(which: Which, transport: Transport, load: &Load) -> Option<u64> {
    let file = std::env::temp_dir().join(format!("callgrind.mcp.{}", std::process::id()));
    let version = Command::new("valgrind")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    version.ok().filter(std::process::ExitStatus::success)?;
    let mut command = Command::new("valgrind");
    command
        .args(["--tool=callgrind", "--quiet"])
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(program())
        .args(arguments(which, transport, true))
        .stderr(Stdio::null());
    let mut server = Server::spawn(command, transport);
    server.round(load);
    server.end();
    let profile = fs::read_to_string(&file);
    let _ = fs::remove_file(&file);
    profile.ok()?.lines().find_map(|line| {
        let total = line.strip_prefix("totals:")?;
        total.trim().parse().ok()
    })
}
