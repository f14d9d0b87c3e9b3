//! Recorded conversations, in the formats of tau-bench and tau2-bench.

use serde_json::Value;

use crate::model::Edition;

/// A file of conversations of one model.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Which suite was recorded.
    pub edition: Edition,
    /// The conversations, in the order of the file.
    pub conversations: Vec<Conversation>,
}

/// A conversation between a model and a user about one task.
#[derive(Clone, Debug)]
pub struct Conversation {
    /// The task.
    pub task: Task,
    /// Which attempt at the task it is.
    pub trial: u64,
    /// Whether the suite counted the conversation as solved.
    pub solved: bool,
    /// Whether the database ended as the task expects; not recorded in some conversations of the first suite.
    pub database_right: Option<bool>,
    /// What was said and called.
    pub turns: Vec<Turn>,
}

/// A task: what a user wants, and the calls that are expected.
#[derive(Clone, Debug)]
pub struct Task {
    /// Its number in the suite.
    pub number: u64,
    /// What the user wants, for whoever plays the user; empty in a recording of the second suite.
    pub wish: String,
    /// The calls that lead to the expected database.
    pub expected: Vec<Call>,
    /// The published digest of the expected database.
    pub digest: Option<String>,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The tool.
    pub name: String,
    /// The arguments, as an object.
    pub arguments: Value,
}

/// One thing that happened in a conversation.
#[derive(Clone, Debug)]
pub enum Turn {
    /// The user said something.
    User(String),
    /// The model said something.
    Agent(String),
    /// The model called a tool.
    Call {
        /// The call.
        call: Call,
        /// What the tool answered.
        answer: String,
        /// Whether the tool of the recording refused the call or failed.
        failed: bool,
        /// Whether the model made other calls in the same message.
        beside: bool,
    },
}

impl Recording {
    /// Reads a file of either suite.
    ///
    /// # Errors
    ///
    /// Fails if the file is not JSON, or in none of the two formats.
    pub fn read(text: &str) -> Result<Self, String> {
        let file: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if let Some(entries) = file
            .as_array()
            .filter(|entries| entries.iter().all(|entry| entry["traj"].is_array()))
        {
            let conversations = entries.iter().map(first_suite).collect();
            return Ok(Self {
                edition: Edition::First,
                conversations,
            });
        }
        let simulations = file["simulations"]
            .as_array()
            .ok_or("neither a list of `traj` nor an object with `simulations`")?;
        let tasks = tasks(&file);
        let conversations = simulations
            .iter()
            .map(|simulation| second_suite(simulation, &tasks))
            .collect();
        Ok(Self {
            edition: Edition::Second,
            conversations,
        })
    }
}

/// Reads the tasks of a file: a recording of either suite, or the tasks of the second.
///
/// # Errors
///
/// Fails if the file is not JSON or has no tasks.
pub fn read_tasks(text: &str) -> Result<(Edition, Vec<Task>), String> {
    let file: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let second = tasks(&file);
    if !second.is_empty() {
        return Ok((Edition::Second, second));
    }
    let Recording {
        edition,
        conversations,
    } = Recording::read(text)?;
    let mut tasks: Vec<Task> = Vec::new();
    for Conversation { task, .. } in conversations {
        match tasks.iter_mut().find(|known| known.number == task.number) {
            Some(known) => known.digest = known.digest.take().or(task.digest),
            None => tasks.push(task),
        }
    }
    Ok((edition, tasks))
}

fn tasks(file: &Value) -> Vec<Task> {
    let tasks = file["tasks"]
        .as_array()
        .or(file.as_array())
        .into_iter()
        .flatten();
    let task = |task: &Value| {
        let actions = task["evaluation_criteria"]["actions"].as_array();
        let expected = actions
            .into_iter()
            .flatten()
            .map(|action| call(&action["name"], &action["arguments"]))
            .collect();
        Task {
            number: number(&task["id"]),
            wish: task["user_scenario"].to_string(),
            expected,
            digest: None,
        }
    };
    tasks
        .filter(|task| task["evaluation_criteria"].is_object())
        .map(task)
        .collect()
}

/// tau-bench: messages of a chat API, and the digest of the expected database.
fn first_suite(entry: &Value) -> Conversation {
    let info = &entry["info"];
    let verdict = &info["reward_info"]["info"];
    let actions = info["task"]["actions"].as_array().into_iter().flatten();
    let task = Task {
        number: number(&entry["task_id"]),
        wish: info["task"]["instruction"]
            .as_str()
            .unwrap_or_default()
            .into(),
        expected: actions
            .map(|action| call(&action["name"], &action["kwargs"]))
            .collect(),
        digest: verdict["gt_data_hash"].as_str().map(str::to_owned),
    };
    Conversation {
        task,
        trial: number(&entry["trial"]),
        solved: entry["reward"] == 1.0,
        database_right: verdict["r_actions"].as_f64().map(|right| right > 0.5),
        turns: turns(&entry["traj"], |request| {
            (
                &request["function"]["name"],
                &request["function"]["arguments"],
            )
        }),
    }
}

/// tau2-bench: messages of its own, and a verdict on the database.
///
/// The verdict names the expected calls, by the number of the task. A verdict without calls is one on a task without calls;
/// a conversation that was broken off has none, and one file numbers its conversations instead of naming their tasks.
fn second_suite(simulation: &Value, tasks: &[Task]) -> Conversation {
    let reward = &simulation["reward_info"];
    let checks = reward["action_checks"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let actions = checks.iter().map(|check| &check["action"]);
    let expected = actions
        .clone()
        .map(|action| call(&action["name"], &action["arguments"]))
        .collect();
    let task_of = |action: &Value| {
        action["action_id"]
            .as_str()?
            .split('_')
            .next()?
            .parse()
            .ok()
    };
    let of_check = actions.clone().find_map(task_of);
    let number = of_check.unwrap_or_else(|| number(&simulation["task_id"]));
    let judged = Task {
        number,
        wish: String::new(),
        expected,
        digest: None,
    };
    let broken_off = reward["db_check"].is_null();
    let known = tasks
        .iter()
        .find(|task| broken_off && task.number == number)
        .cloned();
    Conversation {
        task: known.unwrap_or(judged),
        trial: simulation["trial"].as_u64().unwrap_or_default(),
        solved: reward["reward"] == 1.0,
        database_right: reward["db_check"]["db_match"].as_bool(),
        turns: turns(&simulation["messages"], |request| {
            (&request["name"], &request["arguments"])
        }),
    }
}

fn turns<'v>(
    messages: &'v Value,
    request: impl Fn(&'v Value) -> (&'v Value, &'v Value),
) -> Vec<Turn> {
    let messages = messages.as_array().map_or(&[][..], Vec::as_slice);
    let mut turns = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        let text = message["content"].as_str().unwrap_or_default();
        match message["role"].as_str() {
            Some("user") => turns.push(Turn::User(text.into())),
            Some("assistant") => {
                if !text.is_empty() {
                    turns.push(Turn::Agent(text.into()));
                }
                let requests = message["tool_calls"]
                    .as_array()
                    .map_or(&[][..], Vec::as_slice);
                for requested in requests {
                    let id = &requested["id"];
                    let answers =
                        |later: &&Value| later["tool_call_id"] == *id || later["id"] == *id;
                    // The first suite ran the first of several calls and dropped the others, which have no answer.
                    let Some(answer) = messages[place + 1..].iter().find(answers) else {
                        continue;
                    };
                    let (name, arguments) = request(requested);
                    turns.push(answered(call(name, arguments), answer, requests.len() > 1));
                }
            }
            _ => {}
        }
    }
    turns
}

fn answered(call: Call, answer: &Value, beside: bool) -> Turn {
    let text = answer["content"].as_str().unwrap_or_default();
    let failed =
        answer["error"] == true || text.starts_with("Error") || text.starts_with("Unknown");
    Turn::Call {
        call,
        answer: text.into(),
        failed,
        beside,
    }
}

/// Arguments are an object, or its text.
fn call(name: &Value, arguments: &Value) -> Call {
    let arguments = match arguments.as_str() {
        Some(text) => serde_json::from_str(text).unwrap_or(Value::Null),
        None => arguments.clone(),
    };
    Call {
        name: name.as_str().unwrap_or_default().into(),
        arguments,
    }
}

fn number(value: &Value) -> u64 {
    value
        .as_u64()
        .or_else(|| value.as_str()?.parse().ok())
        .unwrap_or_default()
}
