//! A Redis server of one test: found in `REDIS_SERVER` or on the path, and gone when the test ends, however it ends.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// For what a busy machine may take its time with.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Server {
    folder: PathBuf,
    settings: Vec<String>,
    running: Option<Running>,
}

struct Running {
    shell: Child,
    /// Closed when this process ends: the shell then ends the server.
    alive: Option<ChildStdin>,
    id: u32,
}

impl Server {
    /// A server that writes every change to its disk before it answers.
    pub(crate) fn start() -> Self {
        Self::with(&[])
    }

    /// As `start`, with more settings.
    pub(crate) fn with(settings: &[&str]) -> Self {
        let mut server = Self::absent();
        server.set(settings);
        server.run();
        server
    }

    /// A server that does not run yet.
    pub(crate) fn absent() -> Self {
        // Short: a socket's path holds about a hundred bytes.
        let name = uuid::Uuid::new_v4().simple().to_string();
        let folder = env::temp_dir().join(format!("redis-{}", &name[..12]));
        fs::create_dir(&folder).expect("a folder for the server");
        Self {
            folder,
            settings: Vec::new(),
            running: None,
        }
    }

    /// More settings, for the next time it runs.
    pub(crate) fn set(&mut self, settings: &[&str]) {
        self.settings
            .extend(settings.iter().map(|&one| one.to_owned()));
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    fn socket(&self) -> PathBuf {
        self.folder.join("s")
    }

    /// What a client is given; a socket in the file system, which nobody else takes while the server is away.
    pub(crate) fn address(&self) -> String {
        format!("redis+unix://{}", self.socket().display())
    }

    pub(crate) fn run(&mut self) {
        let program = env::var("REDIS_SERVER").unwrap_or_else(|_| "redis-server".into());
        let script = r#""$@" & server=$!; echo $server; read -r _; kill -9 $server; wait"#;
        let shell = Command::new("sh")
            .args(["-c", script, "sh", &program])
            .args(["--dir", &self.folder.display().to_string()])
            .args(["--unixsocket", &self.socket().display().to_string()])
            .args(["--port", "0", "--save", "", "--appendonly", "yes"])
            .args(["--appendfsync", "always", "--logfile", "log"])
            .args(&self.settings)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut shell = shell.expect("a shell");
        let alive = shell.stdin.take();
        let mut line = String::new();
        let told = shell.stdout.take().expect("piped");
        BufReader::new(told).read_line(&mut line).expect("its id");
        let id = line.trim().parse().expect("a process id");
        self.running = Some(Running { shell, alive, id });
        let begun = Instant::now();
        while UnixStream::connect(self.socket()).is_err() {
            let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            assert!(
                begun.elapsed() < PATIENCE && Path::new(&format!("/proc/{id}")).exists(),
                "`{program}` does not run. These tests need a Redis server, version 7 or later: \
                 `apt-get install redis-server`, or give its path in REDIS_SERVER.\n{log}"
            );
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn signal(&self, signal: &str) {
        let id = self.running.as_ref().expect("it runs").id;
        let sent = Command::new("kill")
            .args([signal, &id.to_string()])
            .status();
        assert!(sent.expect("kill").success());
    }

    /// Stops it as it is: it takes connections, and answers nothing.
    pub(crate) fn stop(&self) {
        self.signal("-STOP");
    }

    /// Lets it go on.
    pub(crate) fn go_on(&self) {
        self.signal("-CONT");
    }

    /// Ends it without a word.
    pub(crate) fn kill(&mut self) {
        if let Some(mut running) = self.running.take() {
            drop(running.alive.take());
            running.shell.wait().expect("the shell ends");
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
        // What is left would be in the folder for temporary files.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
