//! `write_file` beside `std::fs`, over files of several sizes in the same run.
//!
//! ```sh
//! cargo bench -p toolkit --bench write
//! ```
//!
//! `fs::write` empties the file and fills it again, so that a reader may see half of it and a crash may leave it so. By hand is
//! what the tool does with files that nobody must see half: a new file beside it, synchronised, renamed, and the folder
//! synchronised. Runs alternate; medians are printed, and ratios to the version by hand.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use contract_runtime::Status;
use contract_runtime::prelude::*;
use serde_json::json;
use toolkit::Workspace;

fn main() {
    let folder = tempfile::tempdir().expect("a folder for the files");
    let registry = Registry::builder()
        .tool(toolkit::write_file)
        .context(Workspace::new(folder.path()).expect("a workspace"))
        .build()
        .expect("a registry");
    println!(
        "{:>10} {:>14} {:>22} {:>22}",
        "bytes", "fs::write", "atomic, by hand", "write_file by name"
    );
    for (bytes, runs) in [(1 << 10, 301), (64 << 10, 301), (512 << 10, 101)] {
        let line =
            "    let place = workspace.place(path)?; // what a line of a program looks like\n";
        let text = line.repeat(bytes / line.len());
        let arguments = json!({"path": "tool", "text": text}).to_string();
        let [plain, by_hand, by_name] = medians(
            runs,
            [
                &mut || fs::write(folder.path().join("plain"), &text).expect("it is written"),
                &mut || replace(folder.path(), "hand", &text).expect("it is replaced"),
                &mut || {
                    let call = ToolCall::new("1", "write_file", arguments.as_str());
                    assert_eq!(registry.call(call).blocking().status(), Status::Ok);
                },
            ],
        );
        let ratio = |time: Duration| {
            format!(
                "{time:.1?} ({:.2}x)",
                time.as_secs_f64() / by_hand.as_secs_f64()
            )
        };
        println!(
            "{bytes:>10} {:>14} {:>22} {:>22}",
            format!("{plain:.1?}"),
            ratio(by_hand),
            ratio(by_name)
        );
    }
}

/// A file that is replaced at once, as one writes it by hand.
fn replace(folder: &Path, name: &str, text: &str) -> std::io::Result<()> {
    let unfinished = folder.join("unfinished");
    let mut file = File::create(&unfinished)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(unfinished, folder.join(name))?;
    File::open(folder)?.sync_all()
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
