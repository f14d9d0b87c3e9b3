//! The program as it is used: over a recording, and interrupted.

use std::process::{Command, Output};

use contract_agent::{Event, RunError};

const QUESTION: &str = "How many lines of Rust are in this repository?";

/// The variables of each provider, and where it is asked.
const PROVIDERS: [(&str, &str, &str, &str); 3] = [
    (
        "OPENAI_API_KEY",
        "OPENAI_MODEL",
        "OPENAI_BASE_URL",
        "POST /chat/completions",
    ),
    (
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_MODEL",
        "ANTHROPIC_BASE_URL",
        "POST /v1/messages",
    ),
    (
        "GEMINI_API_KEY",
        "GEMINI_MODEL",
        "GOOGLE_GEMINI_BASE_URL",
        "POST /v1beta/models/some-model:",
    ),
];

fn agent() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agent"));
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["--root", "sample"])
        .env("NO_PROXY", "127.0.0.1");
    for (key, model, endpoint, _) in PROVIDERS {
        command
            .env_remove(key)
            .env_remove(model)
            .env_remove(endpoint);
    }
    command.env_remove("GOOGLE_API_KEY");
    command
}

fn replayed(arguments: &[&str]) -> Output {
    agent()
        .args(["--replay", "recordings/lines-of-rust.jsonl"])
        .args(arguments)
        .output()
        .expect("the program runs")
}

#[track_caller]
fn events(output: &Output) -> Vec<Event> {
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}")))
        .collect()
}

#[test]
fn a_recorded_conversation_is_shown_as_it_was() {
    let output = replayed(&[QUESTION]);
    assert!(output.status.success(), "{output:?}");
    let shown = String::from_utf8_lossy(&output.stdout);
    assert_eq!(shown, include_str!("../expected.txt"));
}

#[test]
fn every_line_of_json_is_an_event() {
    let output = replayed(&["--json", QUESTION]);
    assert!(output.status.success(), "{output:?}");
    let events = events(&output);
    let answer = "There are 13 lines of Rust in 3 files.".to_owned();
    assert_eq!(events.last(), Some(&Event::Answer { text: answer }));
    assert!(
        events
            .iter()
            .any(|event| matches!(event, Event::Retry { .. })),
        "the model was told of its mistake: {events:?}"
    );
}

#[test]
fn another_question_is_another_conversation() {
    let output = replayed(&["--json", "How many files are there?"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let events = events(&output);
    let Some(Event::Error {
        error: RunError::Model { error },
    }) = events.last()
    else {
        panic!("{events:?}");
    };
    assert!(
        error
            .to_string()
            .contains("request 1 differs from the recording"),
        "{error}"
    );
}

#[test]
fn a_recording_is_not_written_over() {
    let recording = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/recordings/lines-of-rust.jsonl"
    );
    let before = std::fs::read(recording).expect("the recording");
    let output = agent()
        .args(["--record", recording, QUESTION])
        .env("OPENAI_API_KEY", "none")
        .env("OPENAI_MODEL", "none")
        // Nobody listens there, should it come to that.
        .env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        .output()
        .expect("the program runs");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("already exists; remove it"), "{said}");
    assert_eq!(std::fs::read(recording).expect("the recording"), before);
}

#[test]
fn the_environment_chooses_the_provider_and_the_model() {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;

    for (key, model, endpoint, asked) in PROVIDERS {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("its address").port();
        let mut running = agent();
        running
            .args(["--json", QUESTION])
            .env(key, "none")
            .env(model, "some-model")
            .env(endpoint, format!("http://127.0.0.1:{port}"));
        let running = std::thread::spawn(move || running.output().expect("the program runs"));
        let (mut connection, _) = listener.accept().expect("the model is asked");
        let mut line = String::new();
        let read = BufReader::new(&connection).read_line(&mut line);
        assert!(read.expect("a request") > 0);
        assert!(line.starts_with(asked), "{line}");
        let refused = "HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        connection.write_all(refused.as_bytes()).expect("an answer");
        drop((connection, listener));
        let output = running.join().expect("it ends");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let events = events(&output);
        assert!(
            matches!(
                events.last(),
                Some(Event::Error {
                    error: RunError::Model { .. }
                })
            ),
            "{events:?}"
        );
    }
}

/// The gateway's key belongs to the gateway, also where the model is named on the command line.
#[test]
fn a_model_that_is_named_is_asked_where_the_environment_says() {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;
    use std::sync::atomic::{AtomicBool, Ordering};

    const KEY: &str = "of-the-gateway";
    let names = ["gpt-x", "claude-x", "gemini-x"];
    for ((key, _, endpoint, asked), name) in PROVIDERS.into_iter().zip(names) {
        let gateway = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = gateway.local_addr().expect("its address").port();
        // Whatever is meant for another host comes here.
        let elsewhere = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let proxy = elsewhere.local_addr().expect("its address").port();
        elsewhere.set_nonblocking(true).expect("it does not wait");
        gateway.set_nonblocking(true).expect("it does not wait");
        let mut running = agent();
        running
            .args(["--json", "--model", name, QUESTION])
            .env(key, KEY)
            .env(endpoint, format!("http://127.0.0.1:{port}"))
            .env("ALL_PROXY", format!("http://127.0.0.1:{proxy}"))
            .env("HTTPS_PROXY", format!("http://127.0.0.1:{proxy}"));
        let over = AtomicBool::new(false);
        let requests = std::thread::scope(|scope| {
            let answering = scope.spawn(|| {
                let mut requests = Vec::new();
                while !over.load(Ordering::Relaxed) {
                    if let Ok((mut connection, _)) = gateway.accept() {
                        connection.set_nonblocking(false).expect("it waits");
                        let mut request = Vec::new();
                        for line in BufReader::new(&connection).lines() {
                            let line = line.expect("a line");
                            if line.is_empty() {
                                break;
                            }
                            request.push(line);
                        }
                        requests.push(request);
                        let refused = "HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                        connection.write_all(refused.as_bytes()).expect("an answer");
                    }
                    if let Ok((connection, _)) = elsewhere.accept() {
                        drop(connection);
                        requests.push(vec!["elsewhere".to_owned()]);
                    }
                    std::thread::sleep(std::time::Duration::from_millis(5));
                }
                requests
            });
            let output = running.output().expect("the program runs");
            assert_eq!(output.status.code(), Some(1), "{output:?}");
            over.store(true, Ordering::Relaxed);
            answering.join().expect("it ends")
        });
        let [request] = requests.as_slice() else {
            panic!("{name}: {requests:?}");
        };
        let path = asked.replace("some-model", name);
        assert!(request[0].starts_with(&path), "{request:?}");
        assert!(
            request.iter().any(|line| line.ends_with(KEY)),
            "{request:?}"
        );
    }
}

#[test]
fn without_a_provider_the_program_says_what_to_set() {
    let output = agent().arg(QUESTION).output().expect("the program runs");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("OPENAI_API_KEY"), "{said}");
    assert_eq!(output.stdout, b"");
}

/// The server takes the request and never answers.
#[cfg(unix)]
#[test]
fn ctrl_c_stops_a_run_in_the_middle_of_a_request() {
    use std::io::Read as _;
    use std::net::TcpListener;
    use std::process::Stdio;
    use std::time::Duration;

    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = listener.local_addr().expect("its address").port();
    let running = agent()
        .arg(QUESTION)
        .env("OPENAI_API_KEY", "none")
        .env("OPENAI_MODEL", "none")
        .env("OPENAI_BASE_URL", format!("http://127.0.0.1:{port}/v1"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let (mut connection, _) = listener.accept().expect("the model is asked");
    let patience = Some(Duration::from_secs(60));
    connection.set_read_timeout(patience).expect("a limit");
    // A request has come, so the program waits for whatever comes first.
    let mut piece = [0; 4096];
    assert!(connection.read(&mut piece).expect("a request") > 0);
    let sent = Command::new("kill")
        .args(["-INT", &running.id().to_string()])
        .status()
        .expect("there is `kill`");
    assert!(sent.success());
    let output = running.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("stopped"), "{said}");
}
