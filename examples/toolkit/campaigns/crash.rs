//! Kills writers at any moment, and prints what they have left.
//!
//! `cargo run --release -p toolkit --example crash [runs]`

mod killed;

use std::path::Path;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    if let Some(folder) = std::env::var_os(killed::FOLDER) {
        let write = match std::env::args().nth(1) {
            Some(_) => killed::write_once,
            None => killed::write_on,
        };
        write(Path::new(&folder));
        return ExitCode::SUCCESS;
    }
    let runs = std::env::args()
        .nth(1)
        .and_then(|runs| runs.parse().ok())
        .unwrap_or(1_000);
    let this = std::env::current_exe().expect("this program");
    let folder = tempfile::tempdir().expect("a folder");
    let mut figures = killed::Figures::default();
    for _ in 0..runs {
        figures.run(
            folder.path(),
            Command::new(&this),
            killed::at_random(40_000),
        );
    }
    println!("killed at random: {figures:?}");
    let steps = killed::at_every_step(|| {
        let mut writer = Command::new(&this);
        writer.arg("once");
        writer
    });
    match &steps {
        Some(steps) => println!("killed at every step: {steps:?}"),
        None => println!("NOT RUN F9 killed at every step: no strace"),
    }
    let all_well = |figures: &killed::Figures| figures.left == 0 && figures.torn == 0;
    if all_well(&figures) && steps.as_ref().is_none_or(all_well) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
