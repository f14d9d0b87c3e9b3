//! A backend and an executor as processes of their own, in a folder that is thrown away.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::http::{Answer, post};

pub(crate) const TOKEN: &str = "a-token-of-the-tests";

/// Generous, because other work may share the machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct House {
    folder: tempfile::TempDir,
    recordings: PathBuf,
    /// Further arguments of the backend.
    further: Vec<String>,
    /// Where the model is, in place of the recordings.
    provider: Option<String>,
    pub(crate) backend: Process,
    executor: Option<Process>,
    /// Where the service listens.
    pub(crate) address: String,
    /// Where the executor dials in.
    dial: String,
}

/// A process that ends with the test.
pub(crate) struct Process(pub(crate) Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The program, without a provider in its environment.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_codegen"));
    for provider in ["OPENAI", "ANTHROPIC", "GEMINI"] {
        for variable in ["API_KEY", "MODEL", "BASE_URL"] {
            command.env_remove(format!("{provider}_{variable}"));
        }
    }
    command.env_remove("GOOGLE_GEMINI_BASE_URL");
    command
}

pub(crate) fn shipped(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

impl House {
    pub(crate) fn with_backend(recordings: &str) -> Self {
        Self::begun(recordings, &[], None)
    }

    /// Both halves, with a model of chat completions at this address.
    pub(crate) fn with_provider(url: String) -> Self {
        let mut house = Self::begun("recordings", &[], Some(url));
        house.dial_in();
        house
    }

    /// Both halves, where a person is asked about a tool.
    pub(crate) fn asking(recordings: &str, tool: &str) -> Self {
        let mut house = Self::begun(recordings, &["--confirm", tool], None);
        house.dial_in();
        house
    }

    /// A backend with further arguments, and a model of chat completions at an address in place of the recordings.
    pub(crate) fn begun(recordings: &str, further: &[&str], provider: Option<String>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("service.token"), TOKEN).expect("a token");
        copy(&shipped("sample"), &folder.path().join("shop"));
        let recordings = shipped(recordings);
        let mut further: Vec<_> = further.iter().map(ToString::to_string).collect();
        if !further.contains(&"--redis".to_owned()) {
            let store = folder.path().join("store.redb").display().to_string();
            further.extend(["--store".to_owned(), store]);
        }
        let (backend, address, dial) = backend(
            folder.path(),
            &recordings,
            &further,
            provider.as_deref(),
            &free_address(),
        );
        Self {
            folder,
            recordings,
            further,
            provider,
            backend,
            executor: None,
            address,
            dial,
        }
    }

    /// Both halves.
    pub(crate) fn whole(recordings: &str) -> Self {
        let mut house = Self::with_backend(recordings);
        house.dial_in();
        house
    }

    pub(crate) fn executor(&mut self) -> &mut Child {
        &mut self.executor.as_mut().expect("it has dialled in").0
    }

    pub(crate) fn dial_in(&mut self) {
        let executor = program()
            .arg("executor")
            .args(["--connect", &self.dial])
            .arg("--token-file")
            .arg(self.folder.path().join("executor.token"))
            .arg("--journal")
            .arg(self.folder.path().join("journal.redb"))
            .arg("--root")
            .arg(self.root())
            .stderr(Stdio::null())
            .spawn()
            .expect("the executor starts");
        self.executor = Some(Process(executor));
    }

    /// Kills the backend at once.
    pub(crate) fn kill_backend(&mut self) {
        // One that has ended already is no error.
        let _ = self.backend.0.kill();
        self.backend.0.wait().expect("it is gone");
    }

    /// Kills the backend at once, and starts it again at the same address for executors.
    pub(crate) fn restart_backend(&mut self) {
        self.kill_backend();
        let rest = self.dial.strip_prefix("ws://").unwrap_or_default();
        let executors = rest.split('/').next().unwrap_or_default().to_owned();
        let (backend, address, dial) = backend(
            self.folder.path(),
            &self.recordings,
            &self.further,
            self.provider.as_deref(),
            &executors,
        );
        assert_eq!(dial, self.dial, "the executor would not find it again");
        self.backend = backend;
        self.address = address;
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("shop")
    }

    pub(crate) fn chat(&self, body: &Value) -> Answer {
        post(&self.address, "/api/chat?wait=100", &body.to_string())
    }

    /// A chat that goes well.
    pub(crate) fn said(&self, body: &Value) -> Value {
        let answer = self.chat(body);
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()
    }

    /// Begins a run, and comes back before it is over.
    pub(crate) fn begin(&self, message: &str) -> String {
        let body = json!({"message": message}).to_string();
        let answer = post(&self.address, "/api/chat?wait=0", &body);
        assert_eq!(answer.status, 200, "{}", answer.body);
        let id = answer.json()["session_id"].as_str().map(str::to_owned);
        id.expect("a session")
    }

    pub(crate) fn look(&self, id: &str) -> Value {
        crate::http::get(&self.address, &format!("/api/runs/{id}")).json()
    }

    /// Looks at a run until it is as wanted.
    pub(crate) fn until(&self, id: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        loop {
            let seen = self.look(id);
            if is_wanted(&seen) {
                return seen;
            }
            assert!(began.elapsed() < PATIENCE, "it stays as it is: {seen}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The events of a run that is at work, those that are there already.
    pub(crate) fn seen_so_far(&self, id: &str) -> Vec<Value> {
        let path = format!("/api/runs/{id}/events");
        crate::http::get_for(&self.address, &path, Duration::from_secs(2)).events()
    }

    /// Looks at the events of a run until one is as wanted.
    pub(crate) fn until_event(&self, id: &str, is_wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
        let began = Instant::now();
        loop {
            let seen = self.seen_so_far(id);
            if seen.iter().any(&is_wanted) {
                return seen;
            }
            assert!(began.elapsed() < PATIENCE, "it does not happen: {seen:?}");
        }
    }

    /// The events of a run that is over.
    pub(crate) fn events(&self, id: &str) -> Vec<Value> {
        crate::http::get(&self.address, &format!("/api/runs/{id}/events")).events()
    }
}

/// An address for executors that stays free while a backend is away: no system gives a port below 32,768 to somebody who asks for any.
fn free_address() -> String {
    static TAKEN: AtomicU32 = AtomicU32::new(0);
    let first = 20_000 + (std::process::id() * 16) % 10_000;
    loop {
        let port = first + TAKEN.fetch_add(1, Ordering::Relaxed);
        let address = format!("127.0.0.1:{port}");
        if TcpListener::bind(&address).is_ok() {
            return address;
        }
    }
}

fn backend(
    folder: &Path,
    recordings: &Path,
    further: &[String],
    provider: Option<&str>,
    executors: &str,
) -> (Process, String, String) {
    let mut backend = program();
    if let Some(url) = provider {
        backend.envs([
            ("OPENAI_BASE_URL", url),
            ("OPENAI_MODEL", "script"),
            ("OPENAI_API_KEY", "none"),
        ]);
    }
    let mut backend = backend
        .arg("backend")
        .args(further)
        .args(["--executors", executors])
        .arg("--service-token-file")
        .arg(folder.join("service.token"))
        .arg("--token-file")
        .arg(folder.join("executor.token"))
        .arg("--recordings")
        .arg(recordings)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the backend starts");
    let out = backend.stdout.take().expect("its output");
    let backend = Process(backend);
    let mut lines = BufReader::new(out).lines();
    let mut after = |word: &str| {
        let line = lines.next().and_then(Result::ok).unwrap_or_default();
        let rest = line
            .strip_prefix(word)
            .unwrap_or_else(|| panic!("{line:?}, not {word}"));
        rest.trim().to_owned()
    };
    let page = after("page");
    let dial = after("executor");
    after("token");
    let address = page.trim_start_matches("http://");
    let (address, token) = address.split_once("/?token=").expect("a token");
    assert_eq!(token, TOKEN, "the address opens the page");
    (backend, address.to_owned(), dial)
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let from = entry.expect("an entry").path();
        let to = to.join(from.file_name().expect("a name"));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).expect("a copy");
        }
    }
}
