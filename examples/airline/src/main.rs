//! Plays the tasks of the suites, and replays what models did, on the airline under contract.
//!
//! `cargo run -p airline -- golden` plays the calls that tasks expect; `replay FILE` judges the writes of a recording.

use std::path::PathBuf;
use std::process::ExitCode;

use airline::live::{Contracts, converse};
use airline::recording::Recording;
use airline::recording::read_tasks;
use airline::replay::replay;
use airline::report::Report;
use airline::{Airline, data, golden, report};
use clap::{Parser, Subcommand, ValueEnum};
use contract_agent::GenaiModel;
use tokio::runtime::Runtime;

/// An airline whose written policy is enforced by contracts.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Plays the calls that each task expects.
    Golden {
        /// Tasks or recordings of either suite; by default those in the folder of the data.
        files: Vec<PathBuf>,
    },
    /// Lets a model serve users whom another model plays.
    Run(Run),
    /// Judges the writes of recorded conversations.
    Replay {
        /// Recordings of either suite.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Which tasks: the conditions were completed on the even ones, and the odd ones were held out.
        #[arg(long, default_value = "all")]
        half: Half,
        /// Lists each write that is stopped or not expected.
        #[arg(long)]
        list: bool,
        /// Prints the first stopped write of each conversation with the sentence and the paragraph of the policy.
        #[arg(long)]
        table: bool,
    },
}

/// Which model plays whom, and what is asked of it.
#[derive(clap::Args)]
struct Run {
    /// The model that serves users; its name decides the provider, and the environment holds the key and the endpoint.
    #[arg(long)]
    model: String,
    /// The model that plays the users.
    #[arg(long)]
    user_model: String,
    /// The policy that the model reads; by default `policy.md` in the folder of the data.
    #[arg(long)]
    policy: Option<PathBuf>,
    /// The tasks; by default `tasks.json` in the folder of the data.
    #[arg(long)]
    tasks: Option<PathBuf>,
    /// Lets conditions only observe, and asks the user nothing.
    #[arg(long)]
    without_contracts: bool,
    /// How many tasks to run.
    #[arg(long, default_value_t = usize::MAX)]
    limit: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Half {
    All,
    Even,
    Odd,
}

fn main() -> ExitCode {
    let Arguments { command } = Arguments::parse();
    let result = match command {
        Command::Run(run) => run_tasks(&run),
        Command::Golden { files } => play_golden(files),
        Command::Replay {
            files,
            half,
            list,
            table,
        } => replay_all(&files, half, list, table),
    };
    result.unwrap_or_else(|error| {
        eprintln!("airline: {error}");
        ExitCode::FAILURE
    })
}

fn play_golden(mut files: Vec<PathBuf>) -> Result<ExitCode, String> {
    if files.is_empty() {
        let known = ["tasks.json", "first/gpt-4o.json", "second/tasks.json"];
        files = known
            .iter()
            .map(|file| data::folder().join(file))
            .filter(|file| file.exists())
            .collect();
    }
    let runtime = runtime()?;
    let mut good = true;
    for file in files {
        let (edition, tasks) = read_tasks(&data::text(&file)?)?;
        let data = data::read(&data::folder(), edition)?;
        let airline = Airline::open(&data, edition).map_err(|error| error.to_string())?;
        let (mut calls, mut refused, mut wrongly, mut compared, mut different) = (0, 0, 0, 0, 0);
        for task in &tasks {
            let played = runtime.block_on(golden::play(&airline, &data, task))?;
            for (call, sentence) in &played.refused {
                println!(
                    "task {}: {} {} was refused: {sentence}",
                    task.number, call.name, call.arguments
                );
                match golden::why_wrong(call) {
                    Some(reason) => println!("    the task breaks its own policy: {reason}"),
                    None => wrongly += 1,
                }
            }
            if played.database_right == Some(false) {
                println!(
                    "task {}: the database is not the published one",
                    task.number
                );
            }
            calls += task.expected.len();
            refused += played.refused.len();
            compared += usize::from(played.database_right.is_some());
            different += usize::from(played.database_right == Some(false));
        }
        println!(
            "{}: {} tasks, {calls} expected calls, {refused} refused, {wrongly} of them wrongly; {compared} databases compared, {different} different",
            file.display(),
            tasks.len(),
        );
        good &= wrongly == 0 && different == 0;
    }
    Ok(if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn replay_all(files: &[PathBuf], half: Half, list: bool, table: bool) -> Result<ExitCode, String> {
    for file in files {
        let Recording {
            edition,
            conversations,
        } = Recording::read(&data::text(file)?)?;
        let airline = Airline::open(&data::read(&data::folder(), edition)?, edition)
            .map_err(|error| error.to_string())?;
        let mut report = Report::default();
        let chosen =
            |number: u64| half == Half::All || (half == Half::Even) == number.is_multiple_of(2);
        for conversation in conversations
            .iter()
            .filter(|conversation| chosen(conversation.task.number))
        {
            let replayed = replay(&airline, conversation)?;
            if list {
                report::list(conversation, &replayed);
            }
            if table {
                report::row(conversation, &replayed);
            }
            report.count(conversation, &replayed);
        }
        println!("== {}", file.display());
        report.print();
    }
    Ok(ExitCode::SUCCESS)
}

fn run_tasks(run: &Run) -> Result<ExitCode, String> {
    let file = |given: &Option<PathBuf>, name: &str| {
        data::text(&given.clone().unwrap_or_else(|| data::find(name)))
    };
    let (edition, tasks) = read_tasks(&file(&run.tasks, "tasks.json")?)?;
    let policy = file(&run.policy, "policy.md")?;
    let airline = Airline::open(&data::read(&data::folder(), edition)?, edition)
        .map_err(|error| error.to_string())?;
    let contracts = if run.without_contracts {
        Contracts::Observed
    } else {
        Contracts::Enforced
    };
    let model = |name: &str| {
        GenaiModel::builder(name)
            .build()
            .map_err(|error| error.to_string())
    };
    let runtime = runtime()?;
    let (mut solved, mut broken, mut lived) = (0, 0, 0);
    for task in tasks.iter().take(run.limit) {
        let models = (model(&run.model)?, model(&run.user_model)?);
        match runtime.block_on(converse(&airline, task, &policy, models, contracts)) {
            Ok(one) => {
                println!("task {}: {one:?}", task.number);
                lived += 1;
                solved += usize::from(one.solved);
                broken += one.broken;
            }
            Err(error) => println!("task {}: {error}", task.number),
        }
    }
    println!(
        "{solved} of {lived} tasks solved; {broken} preconditions did not hold ({contracts:?})"
    );
    Ok(if lived > 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn runtime() -> Result<Runtime, String> {
    Runtime::new().map_err(|error| error.to_string())
}
