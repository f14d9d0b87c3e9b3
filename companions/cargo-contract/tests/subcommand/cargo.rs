//! The Cargo that `cargo contract` runs: the real one, except that `build` compiles nothing.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use serde_json::{Value, json};

/// Set where this executable is not the tests: where the real Cargo is.
pub(crate) const REAL_CARGO: &str = "TEST_REAL_CARGO";

pub(crate) fn main() -> ExitCode {
    let words: Vec<OsString> = env::args_os().skip(1).collect();
    if words[0] == "metadata" {
        print!("{}", metadata(&words[1..]));
        return ExitCode::SUCCESS;
    }
    assert_eq!(
        words[1..4],
        ["--quiet", "--message-format", "json-render-diagnostics"]
    );
    assert_eq!(
        (words.len(), words[4].to_str()),
        (6, Some("--manifest-path"))
    );
    build(Path::new(&words[5]));
    ExitCode::SUCCESS
}

/// Resolves what a build would compile, and answers with this executable.
fn build(manifest: &Path) {
    let target = env::var("CARGO_TARGET_DIR").unwrap();
    assert!(manifest.starts_with(&target), "{target}");
    assert!(manifest.with_file_name("src").join("main.rs").exists());
    // Once for each text, because Cargo takes its time.
    let text = fs::read_to_string(manifest).unwrap();
    let resolved = manifest.with_file_name("resolved");
    if fs::read_to_string(&resolved).ok().as_ref() != Some(&text) {
        resolve(manifest);
        fs::write(resolved, text).unwrap();
    }
    let executable = env::current_exe().unwrap();
    for executable in [None, Some(executable)] {
        let message = json!({"reason": "compiler-artifact", "executable": executable});
        println!("{message}");
    }
}

fn resolve(manifest: &Path) {
    let arguments = ["--format-version".into(), "1".into()];
    let path = ["--manifest-path".into(), manifest.into()];
    let built = metadata(&[arguments, path].concat());
    let built: Value = serde_json::from_str(&built).unwrap();
    let nodes = built["resolve"]["nodes"].as_array().unwrap();
    let node = |folder: &str| {
        let is_it = |node: &&Value| node["id"].as_str().unwrap().contains(folder);
        nodes.iter().find(is_it)
    };
    // It has no server, and tests contracts only where that is the command.
    let features = &node("/companions/program#").unwrap()["features"];
    let servers = ["/companions/mcp#", "/companions/http#", "#axum@", "#rmcp@"];
    assert_eq!(servers.map(|server| node(server).is_some()), [false; 4]);
    let generates = node("/companions/verify#").is_some();
    assert!(
        *features
            == if generates {
                json!(["verify"])
            } else {
                json!([])
            }
    );
}

/// What the real Cargo says. It resolves for this machine alone, so that nothing has to be fetched that the tests were not built of.
fn metadata(words: &[OsString]) -> String {
    let real = env::var_os(REAL_CARGO).unwrap();
    let version = Command::new(&real).arg("-vV").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let output = Command::new(real)
        .arg("metadata")
        .args(words)
        .args(["--offline", "--filter-platform", host.unwrap()])
        .output()
        .unwrap();
    if !output.status.success() {
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
        std::process::exit(101);
    }
    String::from_utf8(output.stdout).unwrap()
}
