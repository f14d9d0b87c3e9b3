//! `read_file` beside plain `std::fs`, over the same files in the same run.
//!
//! ```sh
//! cargo bench -p toolkit --bench read
//! ```
//!
//! `read_to_string` opens a path and reads all of it. The tool opens by handle, looks at what it is, hashes and counts the
//! whole file, and keeps what fits into an answer; as a function, and by name with JSON on both sides. Runs alternate;
//! medians are printed.

use std::fs;
use std::hint::black_box;
use std::time::{Duration, Instant};

use contract_runtime::Status;
use contract_runtime::prelude::*;
use serde_json::json;
use toolkit::Workspace;

fn main() {
    let folder = tempfile::tempdir().expect("a folder for the files");
    let workspace = Workspace::new(folder.path()).expect("a workspace");
    let registry = Registry::builder()
        .tool(toolkit::read_file)
        .context(Workspace::new(folder.path()).expect("a workspace"))
        .build()
        .expect("a registry");
    let never = CancellationToken::new();
    println!(
        "{:>10} {:>14} {:>22} {:>22}",
        "bytes", "std::fs", "as a function", "by name"
    );
    for (bytes, runs) in [
        (1 << 10, 2_001),
        (16 << 10, 2_001),
        (64 << 10, 1_001),
        (1 << 20, 301),
        (64 << 20, 15),
    ] {
        let path = folder.path().join("file");
        let line =
            "    let place = workspace.place(path)?; // what a line of a program looks like\n";
        fs::write(&path, line.repeat(bytes / line.len())).expect("a file");
        let arguments = json!({"path": "file"}).to_string();
        let [plain, function, by_name] = medians(
            runs,
            [
                &mut || {
                    black_box(fs::read_to_string(&path).expect("its text"));
                },
                &mut || {
                    black_box(
                        toolkit::read_file("file", None, None, None, false, &workspace, &never)
                            .expect("its text"),
                    );
                },
                &mut || {
                    let outcome = registry
                        .call(ToolCall::new("1", "read_file", arguments.as_str()))
                        .blocking();
                    assert_eq!(black_box(outcome).status(), Status::Ok);
                },
            ],
        );
        let ratio = |time: Duration| {
            format!(
                "{time:.1?} ({:.2}x)",
                time.as_secs_f64() / plain.as_secs_f64()
            )
        };
        let plain = format!("{plain:.1?}");
        println!(
            "{bytes:>10} {plain:>14} {:>22} {:>22}",
            ratio(function),
            ratio(by_name)
        );
    }
}

fn medians<const N: usize>(runs: usize, mut sides: [&mut dyn FnMut(); N]) -> [Duration; N] {
    let mut times = [const { Vec::new() }; N];
    for _ in 0..runs {
        for (side, times) in sides.iter_mut().zip(&mut times) {
            let began = Instant::now();
            side();
            times.push(began.elapsed());
        }
    }
    times.map(|mut times| {
        times.sort_unstable();
        times[runs / 2]
    })
}
