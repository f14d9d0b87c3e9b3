//! A handful of contracted tools, and a file of calls for them.
//!
//! `cargo run -p quickstart` runs the calls in `calls.jsonl`; `cargo run -p quickstart -- -` reads them from standard input.

mod show;
mod tools;

use std::io::{self, BufRead, BufReader};
use std::process::ExitCode;

use contract_runtime::Dialect;
use contract_runtime::prelude::*;

use show::Show;

#[tokio::main]
async fn main() -> ExitCode {
    let show = Show::new();
    match run(&show).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("quickstart: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(show: &Show) -> Result<(), Box<dyn std::error::Error>> {
    let registry = registry!()
        .with(tools::Notes::default())
        .context(tools::Shelf::open()?)
        .on_violation(|violation| eprintln!("handler: {}", violation.masked()))
        .build()?;

    show.heading("What the model sees");
    println!(
        "{:#}",
        registry.export(Dialect::OpenAiChat { strict: false })?
    );

    show.heading("One contract in four forms");
    println!("{}", registry.explain("book_room").unwrap_or_default());

    show.heading("Calls");
    for (number, line) in (1..).zip(calls()?.lines()) {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        match ToolCall::from_json(line.as_bytes()) {
            Ok(call) => show.call(&call, registry.call(call.clone()).await),
            Err(error) => show.malformed(number, &error),
        }
    }

    show.heading("Statistics");
    show.statistics(&registry.statistics());
    Ok(())
}

/// Standard input after `-`, a file where one is named, else the calls shipped with this example.
fn calls() -> io::Result<Box<dyn BufRead>> {
    Ok(match std::env::args().nth(1).as_deref() {
        None => Box::new(include_str!("../calls.jsonl").as_bytes()),
        Some("-") => Box::new(BufReader::new(io::stdin())),
        Some(path) => Box::new(BufReader::new(std::fs::File::open(path)?)),
    })
}

#[cfg(test)]
mod tests {
    use contract_runtime::prelude::*;

    /// The fourth form: a change of any contract shows in the file, and in the review of it.
    #[test]
    fn the_contracts_are_frozen() {
        contract_runtime::assert_frozen!("contracts.json");
    }

    #[test]
    fn no_condition_is_there_for_nothing() -> Result<(), Box<dyn std::error::Error>> {
        let registry = registry!().context(super::tools::Shelf::open()?).build()?;
        assert_eq!(registry.lint(), []);
        Ok(())
    }
}
