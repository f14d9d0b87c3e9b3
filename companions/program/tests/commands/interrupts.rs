#![cfg_attr(
    not(unix),
    allow(dead_code, unused_imports, reason = "signals are sent by `kill`")
)]

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStderr, Command, Stdio};

use super::started::program;

#[cfg(unix)]
tests![
    an_interrupt_cancels_an_async_call,
    an_interrupt_is_told_to_a_blocking_body,
    a_second_interrupt_gives_up_a_body_that_does_not_look,
    a_request_to_terminate_is_made_once,
    a_timeout_gives_up_a_body_that_does_not_look,
    a_server_ends_well,
];

#[cfg(not(unix))]
tests![];

/// A program whose call has begun.
struct Begun {
    child: Child,
    said: BufReader<ChildStderr>,
}

impl Begun {
    fn new(words: &[&str], sign: &str) -> Self {
        let mut command = program(words);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let said = BufReader::new(child.stderr.take().unwrap());
        let mut begun = Self { child, said };
        begun.hears(sign);
        begun
    }

    /// Waits for a line that begins so.
    fn hears(&mut self, sign: &str) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        assert!(line.starts_with(sign), "{line:?}");
        line
    }

    fn signal(&self, name: &str) {
        let process = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args([name, &process])
                .status()
                .unwrap()
                .success()
        );
    }

    /// The exit code and standard output.
    fn ends(self) -> (Option<i32>, String) {
        let output = self.child.wait_with_output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
        )
    }
}

fn an_interrupt_cancels_an_async_call() {
    let long = r#"{"milliseconds":600000}"#;
    for signal in ["-INT", "-TERM"] {
        let mut begun = Begun::new(&["call", "wait", long], "waiting");
        begun.signal(signal);
        assert_eq!(
            begun.hears("cancelled: "),
            "cancelled: the call was cancelled\n"
        );
        assert_eq!(begun.ends(), (Some(9), String::new()));
    }
    let begun = Begun::new(&["call", "wait", long, "--json"], "waiting");
    begun.signal("-INT");
    let (code, out) = begun.ends();
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &json["status"]), (Some(9), &"cancelled".into()));
}

fn an_interrupt_is_told_to_a_blocking_body() {
    let begun = Begun::new(&["call", "hold"], "holding");
    begun.signal("-INT");
    // Whichever is first: the call is given up, or the body lets go and answers.
    let (code, out) = begun.ends();
    assert!(
        matches!((code, &*out), (Some(9), "") | (Some(0), "let go\n")),
        "{code:?} {out}"
    );
}

fn a_second_interrupt_gives_up_a_body_that_does_not_look() {
    let mut begun = Begun::new(&["call", "stick"], "sticking");
    begun.signal("-INT");
    begun.hears("cancelled: the tool is still running; Ctrl-C again stops waiting for it");
    begun.signal("-INT");
    begun.hears("cancelled: the call was cancelled; it may still be running");
    assert_eq!(begun.ends().0, Some(9));
}

fn a_request_to_terminate_is_made_once() {
    let mut begun = Begun::new(&["call", "stick"], "sticking");
    begun.signal("-TERM");
    begun.hears("cancelled: the call was cancelled; it may still be running");
    assert_eq!(begun.ends().0, Some(9));
}

fn a_timeout_gives_up_a_body_that_does_not_look() {
    let mut begun = Begun::new(&["call", "stick", "--timeout", "10ms"], "sticking");
    begun.hears("timed_out: `stick` did not end within 10 ms; it may still be running");
    assert_eq!(begun.ends(), (Some(8), String::new()));
}

fn a_server_ends_well() {
    for signal in ["-INT", "-TERM"] {
        let begun = Begun::new(
            &["serve", "--http", "127.0.0.1:0"],
            "listening: http://127.0.0.1:",
        );
        begun.signal(signal);
        assert_eq!(begun.ends(), (Some(0), String::new()));
    }
}
