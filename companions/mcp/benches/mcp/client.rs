//! A client that makes calls and reads no more of their answers than it must.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{ChildStdin, ChildStdout};
use std::sync::mpsc;
use std::thread;

use serde_json::{Value, json};

/// The calls of one round.
#[derive(Clone)]
pub(crate) struct Load {
    name: &'static str,
    arguments: Value,
    pub(crate) calls: usize,
    concurrency: usize,
}

impl Load {
    pub(crate) fn add() -> Self {
        Self::of("add", json!({"a": 1, "b": 2}))
    }

    pub(crate) fn echo(letters: usize) -> Self {
        Self::of("echo", json!({"text": "x".repeat(letters)}))
    }

    fn of(name: &'static str, arguments: Value) -> Self {
        Self {
            name,
            arguments,
            calls: 1,
            concurrency: 1,
        }
    }

    /// The same call, repeated, with a number of them at once.
    pub(crate) fn times(&self, calls: usize, concurrency: usize) -> Self {
        Self {
            calls,
            concurrency,
            ..self.clone()
        }
    }

    /// Its requests, a line each, with ids from this one on.
    pub(crate) fn lines(&self, first: usize) -> Vec<String> {
        let ids = first..first + self.calls;
        ids.map(|id| self.request(id) + "\n").collect()
    }

    fn request(&self, id: usize) -> String {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
            "name": self.name, "arguments": self.arguments,
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
            },
        }})
        .to_string()
    }
}

/// Calls over the standard streams of a server, as many at once as the load says.
pub(crate) fn lines(
    input: &mut ChildStdin,
    output: &mut BufReader<ChildStdout>,
    requests: &[String],
    load: &Load,
    is_new: bool,
) {
    let (read, answered) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut line = String::new();
            for _ in requests {
                line.clear();
                output.read_line(&mut line).expect("it writes");
                assert!(line.contains("\"isError\":false"), "{line}");
                read.send(()).expect("somebody waits for it");
            }
        });
        for (sent, request) in requests.iter().enumerate() {
            // The very first goes alone, because the server begins with it.
            if sent >= load.concurrency || (is_new && sent == 1) {
                answered.recv().expect("it answers");
            }
            input.write_all(request.as_bytes()).expect("it reads");
        }
    });
}

/// Calls over HTTP, one after the other on each of several connections.
pub(crate) fn web(address: &str, load: &Load) {
    let body = load.request(1);
    let text = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: tools/call\r\nMcp-Name: {}\r\nContent-Length: {}\r\n\r\n{body}",
        load.name,
        body.len()
    );
    thread::scope(|scope| {
        for _ in 0..load.concurrency {
            scope.spawn(|| {
                let mut stream = TcpStream::connect(address).expect("it listens");
                stream.set_nodelay(true).expect("a socket");
                let mut read = vec![0; 1 << 16];
                for _ in 0..load.calls / load.concurrency {
                    stream.write_all(text.as_bytes()).expect("it reads");
                    let mut filled = 0;
                    while !whole(&read[..filled]) {
                        let count = stream.read(&mut read[filled..]).expect("it writes");
                        assert_ne!(count, 0, "{}", String::from_utf8_lossy(&read[..filled]));
                        filled += count;
                    }
                }
            });
        }
    });
}

fn whole(read: &[u8]) -> bool {
    let text = String::from_utf8_lossy(read);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    assert!(head.starts_with("HTTP/1.1 200"), "{text}");
    let length = head.lines().find_map(|line| {
        let (key, value) = line.split_once(": ")?;
        key.eq_ignore_ascii_case("content-length").then_some(value)
    });
    match length {
        Some(length) => length.parse() == Ok(body.len()),
        None => body.ends_with("0\r\n\r\n"),
    }
}
