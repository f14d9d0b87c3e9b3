//! A handful of contracted tools, as a program.
//!
//! `cargo run -p quickstart` shows them and makes the calls in `calls.jsonl`; `cargo run -p quickstart -- calls -` takes
//! the calls from standard input. All else is what every registry has on a command line: `cargo run -p quickstart -- list`,
//! or `-- call divide '{"dividend":1,"divisor":0}'`, or `-- serve`. A program without commands of its own needs less:
//! `contract_program::run(tools())` is then its whole `main`.

mod demo;
mod show;
mod tools;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use contract_runtime::Builder;
use contract_runtime::prelude::*;

#[derive(Parser)]
#[command(
    version,
    about = "A handful of contracted tools; without a command, they are shown"
)]
struct Options {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Show the tools, then make the calls in a file, one JSON object to a line.
    Calls {
        /// The file, or `-` for standard input; the calls of this example where there is none.
        file: Option<PathBuf>,
    },
    #[command(flatten)]
    Tools(contract_program::Command),
}

fn main() -> ExitCode {
    let done = match Options::parse().command {
        Some(Command::Tools(command)) => {
            tools().map(|tools| command.within::<Options>().run(tools))
        }
        Some(Command::Calls { file }) => demo::run(file.as_deref()),
        None => demo::run(None),
    };
    done.unwrap_or_else(|error| {
        eprintln!("quickstart: {error}");
        ExitCode::FAILURE
    })
}

fn tools() -> Result<Builder, Box<dyn std::error::Error>> {
    Ok(registry!()
        .with(tools::Notes::default())
        .context(tools::Shelf::open()?))
}

#[cfg(test)]
mod tests {
    use contract_manifest::Inspect as _;
    use contract_runtime::prelude::*;
    use contract_verify::{Fault, Verifier};

    /// The fourth form: a change of any contract shows in the file, and in the review of it.
    #[test]
    fn the_contracts_are_frozen() -> Result<(), Box<dyn std::error::Error>> {
        contract_manifest::assert_frozen!("contracts.json", super::tools()?.build()?);
        Ok(())
    }

    /// Three tools are wrong on purpose, and `keep_note` asserts what two new notes break; of the others nothing is found, and no bound has moved since the boundaries were recorded.
    #[test]
    fn only_the_faults_that_are_shown_are_found() -> Result<(), Box<dyn std::error::Error>> {
        let boundaries = concat!(env!("CARGO_MANIFEST_DIR"), "/verify-boundaries");
        // No body reaches further than the memory and the folder of this example.
        let report = Verifier::new(super::tools()?.build()?)
            .run_bodies(true)
            .setup(super::tools::two_notes)
            .boundaries(boundaries)
            .run();
        let found: Vec<_> = report
            .problems()
            .map(|problem| (problem.tool.as_str(), problem.fault.clone()))
            .collect();
        assert!(
            matches!(
                found.as_slice(),
                [
                    ("divide", Fault::PromiseBroken { .. }),
                    ("keep_note", Fault::PromiseBroken { .. }),
                    ("last_word", Fault::BodyPanicked { .. }),
                    ("wait", Fault::TimedOut { .. }),
                ]
            ),
            "{report}"
        );
        Ok(())
    }

    #[test]
    fn no_condition_is_there_for_nothing() -> Result<(), Box<dyn std::error::Error>> {
        let registry = registry!().context(super::tools::Shelf::open()?).build()?;
        assert_eq!(registry.lint(), []);
        Ok(())
    }
}
