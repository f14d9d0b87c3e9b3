//! The program, started.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Set in the environment of the program, which is this executable again.
pub(crate) const PROGRAM: &str = "CLI_PROGRAM";

/// Functions as tests, under their names.
macro_rules! tests {
    ($($test:ident),* $(,)?) => {
        pub(crate) fn tests() -> Vec<libtest_mimic::Trial> {
            let module = module_path!().rsplit("::").next().unwrap_or_default();
            vec![$(libtest_mimic::Trial::test(
                format!("{module}::{}", stringify!($test)),
                || {
                    $test();
                    Ok(())
                },
            )),*]
        }
    };
}

/// The program, in an environment in which nothing asks for colours.
pub(crate) fn program(words: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(words).env(PROGRAM, "1").stdin(Stdio::null());
    for variable in [
        "VARIANT",
        "CI",
        "NO_COLOR",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "RUST_BACKTRACE",
        "RUST_LIB_BACKTRACE",
    ] {
        command.env_remove(variable);
    }
    command.env("TERM", "xterm-256color");
    #[cfg(unix)]
    std::os::unix::process::CommandExt::arg0(&mut command, "tools");
    command
}

/// How it ended, and what it said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    pub(crate) fn new(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self {
            code: output.status.code().unwrap_or(-1),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn json_error(&self) -> Value {
        assert_eq!(self.out, "", "{self:?}");
        serde_json::from_str(&self.err).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

pub(crate) fn run(words: &[&str]) -> Said {
    Said::new(program(words).output().unwrap())
}

pub(crate) fn run_as(variant: &str, words: &[&str]) -> Said {
    Said::new(program(words).env("VARIANT", variant).output().unwrap())
}

pub(crate) fn run_with(input: &[u8], words: &[&str]) -> Said {
    run_with_variant("", input, words)
}

pub(crate) fn run_with_variant(variant: &str, input: &[u8], words: &[&str]) -> Said {
    let mut command = program(words);
    command
        .env("VARIANT", variant)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // A program that does not read all is no fault here.
        scope.spawn(move || stdin.write_all(input));
        Said::new(child.wait_with_output().unwrap())
    })
}
