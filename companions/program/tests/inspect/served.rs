//! Starts the program, and speaks HTTP with it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// Tells this executable to be the program.
pub(crate) const PROGRAM: &str = "CONTRACT_INSPECT_PROGRAM";

/// The named functions as tests.
macro_rules! tests {
    ($($name:ident),* $(,)?) => {
        pub(crate) fn tests() -> Vec<libtest_mimic::Trial> {
            vec![$(libtest_mimic::Trial::test(
                concat!(module_path!(), "::", stringify!($name)),
                || { $name(); Ok(()) },
            )),*]
        }
    };
}

/// Longer than anything takes on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program that serves its page.
pub(crate) struct Served {
    child: Child,
    pub(crate) errors: BufReader<ChildStderr>,
    pub(crate) host: String,
    pub(crate) token: String,
}

impl Served {
    pub(crate) fn start() -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["inspect", "--json"])
            .env(PROGRAM, "1")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut text = String::new();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        while !text.ends_with('}') {
            text += &lines.next().unwrap().unwrap();
        }
        let said: Value = serde_json::from_str(&text).unwrap();
        let page = said["page"].as_str().unwrap();
        let (host, token) = page
            .strip_prefix("http://")
            .and_then(|rest| rest.split_once("/?token="))
            .unwrap();
        assert_eq!(said["mcp"], format!("http://{host}/mcp?token={token}"));
        Self {
            errors: BufReader::new(child.stderr.take().unwrap()),
            host: host.to_owned(),
            token: token.to_owned(),
            child,
        }
    }

    /// Sends this and nothing more, and leaves the answer to be read.
    pub(crate) fn send(&self, request: &str) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        BufReader::new(stream)
    }

    /// A request with these lines above its body, and no others.
    pub(crate) fn raw(&self, line: &str, headers: &[String], body: &str) -> Answer {
        let mut head = format!("{line} HTTP/1.1\r\nConnection: close\r\n");
        for header in headers {
            head.extend([header.as_str(), "\r\n"]);
        }
        if !body.is_empty() {
            head.extend(["Content-Length: ", &body.len().to_string(), "\r\n"]);
        }
        let mut text = String::new();
        let mut stream = self.send(&format!("{head}\r\n{body}"));
        stream.read_to_string(&mut text).unwrap();
        Answer::read(&text)
    }

    fn own(&self) -> [String; 2] {
        [
            format!("Host: {}", self.host),
            format!("Authorization: Bearer {}", self.token),
        ]
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.raw(&format!("GET {path}"), &self.own(), "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Value {
        let mut headers = self.own().to_vec();
        headers.push("Content-Type: application/json".to_owned());
        let answer = self.raw(&format!("POST {path}"), &headers, &body.to_string());
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()
    }

    pub(crate) fn call(&self, name: &str, arguments: &str) -> Value {
        self.post("/api/call", &json!({"name": name, "arguments": arguments}))
    }

    pub(crate) fn check(&self, name: &str, arguments: &str) -> Value {
        self.post("/api/check", &json!({"name": name, "arguments": arguments}))
    }

    /// The stream of events after this one, with its head read.
    pub(crate) fn follow(&self, after: u64) -> Following {
        let [host, token] = self.own();
        let mut lines = self.send(&format!(
            "GET /api/events HTTP/1.1\r\n{host}\r\n{token}\r\nLast-Event-ID: {after}\r\n\r\n"
        ));
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            lines.read_line(&mut head).unwrap();
        }
        Following { head, lines }
    }

    /// The next line that the program says for people.
    pub(crate) fn said(&mut self) -> String {
        let mut line = String::new();
        self.errors.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) struct Following {
    pub(crate) head: String,
    lines: BufReader<TcpStream>,
}

impl Following {
    /// The next event; nothing after the last.
    pub(crate) fn next(&mut self) -> Option<Value> {
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return Some(serde_json::from_str(data).unwrap());
            }
        }
    }

    /// The kinds of events, up to the end of a call.
    pub(crate) fn until_ended(&mut self) -> Vec<Value> {
        let mut events = Vec::new();
        while let Some(event) = self.next() {
            let ended = event["kind"] == "ended";
            events.push(event);
            if ended {
                break;
            }
        }
        events
    }
}

/// An answer, taken apart.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    fn read(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self {
            status,
            head: head.to_lowercase(),
            body: body.to_owned(),
        }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}
