//! The tools as a model sees them, and a file of calls for them.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::ExitCode;

use contract_manifest::Inspect as _;
use contract_runtime::prelude::*;
use contract_runtime::{Dialect, observe::Observer};

use crate::show::Show;

#[tokio::main]
pub(crate) async fn run(file: Option<&Path>) -> Result<ExitCode, Box<dyn Error>> {
    let show = Show::new();
    let registry = crate::tools()?
        .observe(Observer::new().violations(|broken| eprintln!("observer: {}", broken.masked())))
        .build()?;

    show.heading("What the model sees");
    println!("{:#}", registry.export(Dialect::OpenAiChat));

    show.heading("One contract in four forms");
    println!("{}", registry.explain("book_room").unwrap_or_default());

    show.heading("Calls");
    for (number, line) in (1..).zip(calls(file)?.lines()) {
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
    Ok(ExitCode::SUCCESS)
}

/// Standard input for `-`, a file where one is named, else the calls shipped with this example.
fn calls(file: Option<&Path>) -> io::Result<Box<dyn BufRead>> {
    Ok(match file {
        None => Box::new(include_str!("../calls.jsonl").as_bytes()),
        Some(path) if path == Path::new("-") => Box::new(BufReader::new(io::stdin())),
        Some(path) => Box::new(BufReader::new(File::open(path)?)),
    })
}
