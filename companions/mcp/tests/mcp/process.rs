//! Servers in processes of their own: this program, started again.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use contract_mcp::Server;
use serde_json::{Value, json};

use super::line::{SHORT, july};
use super::tools::{Seen, registry};

const ASKED: &str = "CONTRACT_RUNTIME_TEST_SERVES";

/// Not a test of anything: what the others start.
#[test]
fn serves() {
    let Ok(how) = std::env::var(ASKED) else {
        return;
    };
    let server = Server::new(registry(&Seen::default()).unwrap()).grace(SHORT);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let ended = runtime.block_on(async {
        if how == "stdio" {
            return server.stdio().await;
        }
        let listening = server.bind("127.0.0.1:0")?;
        println!("{}", json!({"address": listening.address().to_string()}));
        listening.serve().await
    });
    runtime.shutdown_background();
    if let Err(error) = &ended {
        eprintln!("{error:?}");
    }
    std::process::exit(i32::from(ended.is_err()));
}

struct Program {
    child: Child,
    write: Option<ChildStdin>,
    read: BufReader<ChildStdout>,
}

impl Program {
    fn start(how: &str, shell: &str) -> Self {
        let mut child = Command::new("sh")
            .args([
                "-c",
                &format!("{shell} exec \"$0\" --exact process::serves --nocapture -q"),
            ])
            .arg(std::env::current_exe().unwrap())
            .env(ASKED, how)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            write: child.stdin.take(),
            read: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    fn say(&mut self, message: &Value) {
        let write = self.write.as_mut().unwrap();
        write.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    /// The next message; what the test harness prints before the first is passed over.
    fn hear(&mut self) -> Value {
        let mut line = String::new();
        loop {
            line.clear();
            assert_ne!(
                self.read.read_line(&mut line).unwrap(),
                0,
                "the server ended"
            );
            if let Ok(message @ Value::Object(_)) = serde_json::from_str(&line) {
                return message;
            }
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_program_serves_its_standard_streams_until_they_are_closed() {
    let mut program = Program::start("stdio", "");
    program.say(&july(1, "tools/list", json!({})));
    let tools = program.hear()["result"]["tools"].as_array().unwrap().len();
    assert!(tools > 15);
    program.say(&july(
        2,
        "tools/call",
        json!({"name": "long", "arguments": {"letters": 99_000}}),
    ));
    let answer = program.hear();
    assert_eq!(
        answer["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .len(),
        99_000
    );
    // What is running is told that it is over, and says so.
    program.say(&july(3, "tools/call", json!({"name": "wait"})));
    program.write = None;
    let answer = program.hear();
    let meta = &answer["result"]["_meta"]["rs.docs.contract-runtime/outcome"];
    assert_eq!(meta["status"], "cancelled", "{answer}");
    assert!(program.child.wait().unwrap().success());
    let mut rest = String::new();
    program.read.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
}

#[test]
fn a_program_ends_when_nobody_reads_it() {
    let mut program = Program::start("stdio", "");
    program.say(&july(1, "server/discover", json!({})));
    program.hear();
    let mut other = Command::new("true").stdout(Stdio::piped()).spawn().unwrap();
    let closed = std::mem::replace(
        &mut program.read,
        BufReader::new(other.stdout.take().unwrap()),
    );
    drop(closed);
    let Program { child, write, .. } = &mut program;
    let write = write.as_mut().unwrap();
    let message = format!("{}\n", july(2, "server/discover", json!({})));
    // Its input stays open; it has to find out by writing.
    while write.write_all(message.as_bytes()).is_ok() {
        if child.try_wait().unwrap().is_some() {
            break;
        }
        std::thread::yield_now();
    }
    assert!(child.wait().unwrap().success());
    other.wait().unwrap();
}

#[test]
fn a_program_that_is_out_of_descriptors_serves_again_when_it_has_some() {
    let mut program = Program::start("http", "ulimit -n 40;");
    let said = program.hear();
    let address = said["address"].as_str().unwrap();
    // More than it may hold; the system accepts the rest for it.
    let open: Vec<TcpStream> = (0..60)
        .map(|_| TcpStream::connect(address).unwrap())
        .collect();
    drop(open);
    let mut stream = TcpStream::connect(address).unwrap();
    let body = july(1, "tools/call", json!({"name": "point"})).to_string();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n\
         Mcp-Name: point\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("\"x\":1"), "{answer}");
}
