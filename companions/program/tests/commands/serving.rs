use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use super::started::{program, run, run_with};
use super::terminals::typed_on_a_terminal;

tests![
    a_client_on_standard_input_is_served,
    a_client_over_http_is_served,
    what_it_says_is_where_it_answers,
    an_address_to_listen_at_is_one_to_answer_at,
    a_client_is_told_an_address_that_is_answered,
    a_client_is_told_how_to_connect,
    somebody_at_a_terminal_is_told_what_it_waits_for,
];

fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    }})
}

fn a_client_on_standard_input_is_served() {
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "divide", "arguments": {"dividend": 1, "divisor": 4},
    }});
    let begun = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let input: String = [initialize(), begun, call]
        .map(|one| format!("{one}\n"))
        .concat();
    let said = run_with(input.as_bytes(), &["serve"]);
    assert_eq!(said.code, 0, "{said:?}");
    let answers: Vec<Value> = said
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        answers[0]["result"]["serverInfo"]["name"],
        "contract-program"
    );
    assert_eq!(answers[1]["result"]["content"][0]["text"], "0.25");
    assert_eq!(answers.len(), 2, "only the protocol is on standard output");
}

/// The program while it serves over HTTP, and where it says that it listens.
struct Serving {
    child: Child,
    listening: String,
}

impl Serving {
    fn start(words: &[&str]) -> Self {
        let mut command = program(&[&["serve", "--json", "--http"], words].concat());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut text = String::new();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        while !text.ends_with("}\n") {
            assert_ne!(lines.read_line(&mut text).unwrap(), 0, "{text}");
        }
        let said: Value = serde_json::from_str(&text).unwrap();
        let url = said["listening"].as_str().unwrap();
        let address = url.strip_prefix("http://").unwrap();
        let listening = address.strip_suffix("/mcp").unwrap().to_owned();
        Self { child, listening }
    }

    fn port(&self) -> &str {
        self.listening.rsplit_once(':').unwrap().1
    }

    /// The status of an answer to a client that connects to `address`, and names `host`.
    fn status(address: &str, host: &str) -> String {
        let body = initialize().to_string();
        let mut stream = TcpStream::connect(address).unwrap();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nConnection: close\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer);
        answer.strip_prefix("HTTP/1.1 ").unwrap().to_owned()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn a_client_over_http_is_served() {
    let serving = Serving::start(&["localhost:0", "--allow-host", "tools.example"]);
    let address = &*serving.listening;
    for (host, status) in [
        (address, "200"),
        ("tools.example", "200"),
        ("evil.example", "403"),
    ] {
        assert_eq!(Serving::status(address, host), status, "{host}");
    }
}

fn what_it_says_is_where_it_answers() {
    for (listening, said) in [("0.0.0.0:0", "127.0.0.1:"), ("[::]:0", "[::1]:")] {
        if listening.starts_with('[') && TcpListener::bind("[::1]:0").is_err() {
            let line = format!("NOT RUN serving {listening}: no IPv6\n");
            let _ = std::io::stderr().write_all(line.as_bytes());
            continue;
        }
        let serving = Serving::start(&[listening]);
        let there = &*serving.listening;
        assert!(there.starts_with(said), "{there}");
        assert_eq!(Serving::status(there, there), "200", "{there}");
        let port = serving.port();
        let words = [
            "serve",
            "--http",
            &listening.replace(":0", &format!(":{port}")),
        ];
        let config = run(&[&words[..], &["--print-config", "cursor"]].concat()).json();
        let url = &config["mcpServers"]["contract-program"]["url"];
        assert_eq!(url, &format!("http://{there}/mcp"));
    }
    let serving = Serving::start(&["0.0.0.0:0", "--allow-host", "tools.example"]);
    assert_eq!(
        serving.listening,
        format!("tools.example:{}", serving.port())
    );
    let reached = format!("127.0.0.1:{}", serving.port());
    assert_eq!(Serving::status(&reached, &serving.listening), "200");
}

fn an_address_to_listen_at_is_one_to_answer_at() {
    // Connecting finds the address of this machine in a network, and sends nothing.
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    let own = socket
        .connect("192.0.2.1:9")
        .and_then(|()| socket.local_addr());
    let Ok(own) = own.map(|own| own.ip()) else {
        let _ = writeln!(std::io::stderr(), "NOT RUN serving: no network");
        return;
    };
    let serving = Serving::start(&[&format!("{own}:0")]);
    let there = &*serving.listening;
    assert!(there.starts_with(&own.to_string()), "{there}");
    assert_eq!(Serving::status(there, there), "200");
    assert_eq!(Serving::status(there, "192.0.2.1"), "403");
}

fn a_client_is_told_an_address_that_is_answered() {
    let url = |words: &[&str]| {
        let config = run(&[&["serve", "--print-config", "cursor", "--http"], words].concat());
        config.json()["mcpServers"]["contract-program"]["url"].clone()
    };
    for (words, there) in [
        (&["0.0.0.0:8090"][..], "127.0.0.1:8090"),
        (&["[::]:8090"], "[::1]:8090"),
        (&["192.0.2.7:8090"], "192.0.2.7:8090"),
        (
            &["0.0.0.0:8090", "--allow-host", "tools.example"],
            "tools.example:8090",
        ),
        (
            &["[::]:8090", "--allow-host", "tools.example:80"],
            "tools.example:80",
        ),
        (
            &["[::]:8090", "--allow-host", "2001:db8::1"],
            "[2001:db8::1]:8090",
        ),
        (
            &["localhost:8090", "--allow-host", "tools.example"],
            "localhost:8090",
        ),
    ] {
        assert_eq!(url(words), format!("http://{there}/mcp"), "{words:?}");
    }
    let said = run(&["serve", "--http", "[::]:0", "--print-config", "vscode"]);
    assert_eq!((said.code, &*said.out), (2, ""), "{said:?}");
    assert_eq!(
        said.err,
        "error: port 0 is another port each time, which the settings of a client cannot name; write `--http [::]:8080`\n"
    );
}

fn a_client_is_told_how_to_connect() {
    let config = |words: &[&str]| run(&[&["serve", "--print-config"], words].concat()).json();
    let name = "contract-program";
    let program = std::env::current_exe().unwrap();
    for client in ["claude-code", "claude-desktop", "cursor", "inspector"] {
        let server = &config(&[client])["mcpServers"][name];
        assert_eq!(server["command"], program.to_str().unwrap(), "{client}");
        assert_eq!(server["args"], json!(["serve"]), "{client}");
    }
    let there = &["--http", "tools.example:80", "--ask-client"];
    let url = "http://tools.example:80/mcp";
    let with = |client| config(&[&[client], &there[..]].concat());
    assert_eq!(
        with("vscode"),
        json!({"servers": {name: {"type": "http", "url": url}}})
    );
    assert_eq!(with("cursor"), json!({"mcpServers": {name: {"url": url}}}));
    assert_eq!(
        with("inspector")["mcpServers"][name]["type"],
        "streamable-http"
    );
    assert_eq!(
        with("claude-desktop")["mcpServers"][name]["args"],
        json!(["-y", "mcp-remote", url])
    );
    assert_eq!(
        config(&["vscode", "--ask-client"])["servers"][name]["args"],
        json!(["serve", "--ask-client"])
    );
    let said = run(&["serve", "--print-config", "cursor"]);
    assert!(
        said.err.starts_with("it belongs in: .cursor/mcp.json"),
        "{said:?}"
    );
}

fn somebody_at_a_terminal_is_told_what_it_waits_for() {
    let Some((said, _)) = typed_on_a_terminal(&[], &["serve"], Some("\u{3}")) else {
        return;
    };
    assert!(
        said.contains("for a client of the Model Context Protocol"),
        "{said}"
    );
    assert!(
        said.contains("claude mcp add contract-program -- /"),
        "{said}"
    );
}
