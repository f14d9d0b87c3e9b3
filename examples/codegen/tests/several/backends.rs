use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::house::{PATIENCE, Process, TOKEN, copy, program, shipped};
use crate::http::{Answer, get, get_for, post};
use crate::server::Server;

/// Two backends with one Redis, each with an executor over the same project.
pub(crate) struct Backends {
    pub(crate) each: [Backend; 2],
    _executors: [Process; 2],
    folder: tempfile::TempDir,
    recordings: PathBuf,
    server: Server,
}

pub(crate) struct Backend {
    name: &'static str,
    process: Process,
    pub(crate) address: String,
    dial: String,
}

/// What the interview of the price list is answered with.
pub(crate) fn answers() -> Value {
    json!([
        {"question": "form", "values": ["JSON"]},
        {"question": "columns", "values": ["name", "price in cents"]},
        {"question": "path", "values": ["/prices"]},
    ])
}

impl Backends {
    pub(crate) fn two(recordings: &str) -> Self {
        let server = Server::start();
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("service.token"), TOKEN).expect("a token");
        copy(&shipped("sample"), &folder.path().join("shop"));
        let recordings = shipped(recordings);
        let backends = ["a", "b"]
            .map(|name| Backend::start(name, "127.0.0.1:0", folder.path(), &recordings, &server));
        let executors = backends.each_ref().map(|backend| {
            let executor = program()
                .args(["executor", "--connect", &backend.dial, "--token-file"])
                .arg(folder.path().join(format!("{}.token", backend.name)))
                .arg("--root")
                .arg(folder.path().join("shop"))
                .stderr(Stdio::null())
                .spawn();
            Process(executor.expect("the executor starts"))
        });
        for backend in &backends {
            backend.has_executor();
        }
        Self {
            each: backends,
            _executors: executors,
            folder,
            recordings,
            server,
        }
    }

    pub(crate) fn start_again(&mut self, at: usize) {
        let Backend { name, dial, .. } = &self.each[at];
        let rest = dial.strip_prefix("ws://").unwrap_or_default();
        let executors = rest.split('/').next().unwrap_or_default();
        let folder = self.folder.path();
        let backend = Backend::start(name, executors, folder, &self.recordings, &self.server);
        self.each[at] = backend;
    }
}

impl Backend {
    fn start(
        name: &'static str,
        executors: &str,
        folder: &Path,
        recordings: &Path,
        server: &Server,
    ) -> Self {
        let mut child = program()
            .args(["backend", "--name", name, "--executors", executors])
            .args(["--redis", &server.address(), "--service-token-file"])
            .arg(folder.join("service.token"))
            .arg("--token-file")
            .arg(folder.join(format!("{name}.token")))
            .arg("--recordings")
            .arg(recordings)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the backend starts");
        let out = child.stdout.take().expect("its output");
        let process = Process(child);
        let mut lines = BufReader::new(out).lines();
        let mut after = |word: &str| {
            let line = lines.next().and_then(Result::ok).unwrap_or_default();
            let rest = line.strip_prefix(word);
            let rest = rest.unwrap_or_else(|| panic!("{line:?}, not {word}"));
            rest.trim().to_owned()
        };
        let (page, dial) = (after("page"), after("executor"));
        after("token");
        let address = page.trim_start_matches("http://");
        let (address, _token) = address.split_once("/?token=").expect("a token");
        Self {
            name,
            process,
            address: address.to_owned(),
            dial,
        }
    }

    pub(crate) fn kill(&mut self) {
        self.process.0.kill().expect("it is killed");
        self.process.0.wait().expect("it is gone");
    }

    pub(crate) fn chat(&self, body: &Value) -> Answer {
        post(&self.address, "/api/chat?wait=100", &body.to_string())
    }

    pub(crate) fn begin(&self, message: &str) -> String {
        let body = json!({"message": message}).to_string();
        let answer = post(&self.address, "/api/chat?wait=0", &body);
        let id = answer.json()["session_id"].as_str().map(str::to_owned);
        id.unwrap_or_else(|| panic!("{}", answer.body))
    }

    pub(crate) fn look(&self, id: &str) -> Value {
        get(&self.address, &format!("/api/runs/{id}")).json()
    }

    /// The events of a run that is over, or will be.
    pub(crate) fn events(&self, id: &str) -> Vec<Value> {
        get(&self.address, &format!("/api/runs/{id}/events")).events()
    }

    /// Which backend has a run, as this one says.
    pub(crate) fn owner(&self, id: &str) -> Value {
        let runs = get(&self.address, "/api/runs").json();
        let mut runs = runs.as_array().expect("runs").iter();
        let run = runs.find(|run| run["id"] == id);
        run.map(|run| run["owner"].clone()).unwrap_or_default()
    }

    fn has_executor(&self) {
        let began = Instant::now();
        while get(&self.address, "/api/tools").json()["connected"] != true {
            assert!(began.elapsed() < PATIENCE, "no executor dials in");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

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

    pub(crate) fn until_event(&self, id: &str, is_wanted: impl Fn(&Value) -> bool) {
        let path = format!("/api/runs/{id}/events");
        let began = Instant::now();
        loop {
            let seen = get_for(&self.address, &path, Duration::from_secs(2)).events();
            if seen.iter().any(&is_wanted) {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "it does not happen: {seen:?}");
        }
    }
}
