//! A resumed run knows what it did before: its history, what the model repeats, and the attempts that are used.

use std::sync::Arc;

use contract_agent::{
    Budget, ContractAgent, Delta, InnerAgent, LoopDetection, MemoryStore, Message, Model,
    ReActAgent, Recovery, Reply, Request, RunResult, RunState, RunStore, StoreError,
    ToolCallingAgent, stream_with,
};
use contract_runtime::prelude::*;
use contract_runtime::{Effect, Status};
use proptest::prelude::*;

use super::runs::{Killed, World, block_on};

/// Look at something.
#[tool(read_only)]
async fn look(n: u32, #[context] world: &World) -> u32 {
    world.run(format!("look {n}")).await;
    7
}

/// Write something down.
#[tool]
async fn write(n: u32, #[context] world: &World) -> u32 {
    world.run(format!("write {n}")).await;
    n
}

/// Refuse everything.
#[tool(read_only)]
#[pre(n > 1_000_000, "too small")]
fn refuse(n: u32) {}

/// Fail after the body began.
#[tool(read_only)]
fn fail(n: u32) -> Result<(), String> {
    Err(format!("{n} failed"))
}

/// Say what the model has read.
#[tool(read_only)]
#[given(seen = history().seen(look))]
fn seen(n: u32) -> String {
    format!("{n}: {seen}")
}

/// Say what succeeded.
#[tool(read_only)]
#[given(ok = history().with("n", &n).ok(write))]
fn ok(n: u32) -> String {
    format!("{n}: {ok}")
}

/// Count calls.
#[tool(read_only)]
#[given(writes = history().count(write))]
#[given(looks = history().with("n", &n).count(look))]
#[given(others = history().count(fail) + 100 * history().count(refuse))]
fn count(n: u32) -> String {
    format!("{n}: {writes} {looks} {others}")
}

fn registry(world: &World) -> Result<Registry, BuildError> {
    let doing = Registry::builder()
        .tool(look)
        .tool(write)
        .tool(refuse)
        .tool(fail);
    let asking = doing.tool(seen).tool(ok).tool(count);
    asking.context(world.clone()).build()
}

/// A reply of a model.
#[derive(Clone, Debug)]
enum Said {
    Calls(Vec<(&'static str, u32)>),
    Answer { is_kept_back: bool },
}

/// Gives the reply that follows those in the conversation, so that it says the same in every process.
#[derive(Clone)]
struct Told {
    script: Arc<Vec<Said>>,
    in_text: bool,
    world: World,
}

fn replies(messages: &[Message]) -> usize {
    let is_reply = |message: &&Message| matches!(message, Message::Assistant { .. });
    messages.iter().filter(is_reply).count()
}

impl Model for Told {
    fn name(&self) -> &'static str {
        "told"
    }

    fn reply<'a>(&'a self, request: Request<'a>) -> Reply<'a> {
        let place = replies(request.messages);
        let said = self.script.get(place).cloned();
        let said = said.unwrap_or(Said::Answer {
            is_kept_back: false,
        });
        Box::pin(stream_with(move |emitter| async move {
            self.world.point().await;
            match said {
                Said::Answer { is_kept_back } => {
                    let answer = if is_kept_back { "SECRET" } else { "done" };
                    let before = if self.in_text { "Final Answer: " } else { "" };
                    let text = format!("{before}{answer} {place}");
                    emitter.emit(Ok(Delta::Text(text))).await;
                }
                Said::Calls(calls) if self.in_text => {
                    for (tool, n) in calls.iter().take(1) {
                        let text = format!("Action: {tool}\nAction Input: {{\"n\": {n}}}");
                        emitter.emit(Ok(Delta::Text(text))).await;
                    }
                }
                Said::Calls(calls) => {
                    for (index, (tool, n)) in calls.iter().enumerate() {
                        let id = format!("{place}-{index}");
                        let call = ToolCall::new(id, *tool, format!("{{\"n\":{n}}}"));
                        emitter.emit(Ok(Delta::Call(call))).await;
                    }
                }
            }
        }))
    }
}

/// What a run came to: how each task ended, and the conversation.
#[derive(Debug, PartialEq)]
struct Ended {
    tasks: Vec<(Option<String>, Option<String>, u64)>,
    messages: Vec<Message>,
}

const TASKS: usize = 2;

/// Works on the tasks of a run in several processes, each of which is killed after as many points.
async fn ended(script: &Arc<Vec<Said>>, in_text: bool, kills: &[i64]) -> Result<Ended, StoreError> {
    let store = MemoryStore::new();
    let mut tasks = Vec::new();
    let mut kills = kills.iter().copied();
    'processes: loop {
        let world = World::default().with_process(kills.next().unwrap_or(-1), false);
        let killed: Arc<dyn RunStore> = Arc::new(Killed(store.clone(), world.clone()));
        let mut run = RunState::open(killed, "run").await?;
        loop {
            let begun = |message: &&Message| matches!(message, Message::User { text } if text.starts_with("go"));
            let begun = run.messages().iter().filter(begun).count();
            if begun == TASKS && tasks.len() == TASKS {
                let messages = run.messages();
                return Ok(Ended { tasks, messages });
            }
            let model = Told {
                script: Arc::clone(script),
                in_text,
                world: world.clone(),
            };
            let tools = registry(&world).expect("a registry");
            // Each ending is asked for again if the process was killed before it was known.
            let task = (begun == tasks.len()).then(|| format!("go {begun}"));
            let result = if in_text {
                process(ReActAgent::new(model, tools), &world, run, task).await
            } else {
                process(ToolCallingAgent::new(model, tools), &world, run, task).await
            };
            let Some(result) = result else {
                continue 'processes;
            };
            let error = result.error.map(|error| error.to_string());
            tasks.push((result.answer, error, result.iterations));
            run = result.state;
        }
    }
}

async fn process<A: InnerAgent>(
    inner: A,
    world: &World,
    run: RunState,
    task: Option<String>,
) -> Option<RunResult> {
    let agent = ContractAgent::builder(inner)
        .recovery(Recovery::Retry {
            attempts: 2,
            in_total: 3,
        })
        .loop_detection(LoopDetection::default().same_action(3).same_tool(4))
        .budget(Budget::SameObservation(3))
        .answer_post("discreet", |text| !text.contains("SECRET"))
        .build();
    let whole = async {
        match task {
            Some(task) => agent.run_after(run, task).await,
            None => agent.resume(run).await,
        }
    };
    tokio::select! {
        biased;
        () = world.killed.notified() => None,
        result = whole => Some(result),
    }
}

const LOST: &str = "the program ended while this call was running";
const NOT_KNOWN: &str = "the run had calls before that it does not know";

/// Every answer of a condition is what the conversation says of the calls before.
fn are_true(messages: &[Message]) -> Result<(), TestCaseError> {
    let mut ended: Vec<(&ToolCall, Status, Effect)> = Vec::new();
    let mut calls: &[ToolCall] = &[];
    let mut before = 0;
    for message in messages {
        let (call_id, status, effect, text) = match message {
            Message::Assistant { calls: made, .. } => {
                calls = made;
                before = ended.len();
                continue;
            }
            Message::Tool {
                call_id,
                status,
                effect,
                text,
                ..
            } => (call_id, *status, *effect, text),
            _ => continue,
        };
        let Some(call) = calls.iter().find(|call| call.id == *call_id) else {
            continue;
        };
        let earlier = ended.iter().take(before);
        let of = |name: &'static str| earlier.clone().filter(move |(call, ..)| call.name == name);
        let same = |one: &&(&ToolCall, Status, Effect)| one.0.arguments == call.arguments;
        let may_have_run =
            |one: &&(&ToolCall, Status, Effect)| one.1 == Status::Ok || one.2 != Effect::None;
        let succeeded = |one: &(&ToolCall, Status, Effect)| one.1 == Status::Ok;
        let n = call.arguments.trim_matches(|c: char| !c.is_ascii_digit());
        let expected = match &*call.name {
            "seen" => of("look").any(succeeded).to_string(),
            "ok" => of("write").filter(same).any(succeeded).to_string(),
            "count" => format!(
                "{} {} {}",
                of("write").filter(may_have_run).count(),
                of("look").filter(same).filter(may_have_run).count(),
                of("fail").filter(|one| one.1 == Status::Failed).count()
            ),
            _ => {
                // The loop detection ended the task before its last calls were made.
                let was_made = !text.contains("this call was not answered");
                ended.extend(was_made.then_some((call, status, effect)));
                continue;
            }
        };
        match status {
            Status::Ok => prop_assert_eq!(text, &format!("{n}: {expected}")),
            Status::Cancelled => {}
            _ => prop_assert!(text.contains(NOT_KNOWN), "{}", text),
        }
    }
    Ok(())
}

fn scripts() -> impl Strategy<Value = Vec<Said>> {
    let doing = prop_oneof![
        3 => Just("look"), 2 => Just("write"), 1 => Just("refuse"), 1 => Just("fail")
    ];
    let asking = prop_oneof![Just("seen"), Just("ok"), Just("count")];
    let of = |tool: BoxedStrategy<&'static str>, most: usize| {
        proptest::collection::vec((tool, 0_u32..3), 1..most).prop_map(Said::Calls)
    };
    let reply = prop_oneof![
        4 => of(doing.boxed(), 4),
        3 => of(asking.boxed(), 3),
        1 => any::<bool>().prop_map(|is_kept_back| Said::Answer { is_kept_back }),
    ];
    proptest::collection::vec(reply, 1..9)
}

async fn remembers(script: Vec<Said>, in_text: bool, kills: &[i64]) -> Result<(), TestCaseError> {
    let script = Arc::new(script);
    let fail = |error: StoreError| TestCaseError::fail(error.to_string());
    let whole = ended(&script, in_text, &[]).await.map_err(fail)?;
    let killed = ended(&script, in_text, kills).await.map_err(fail)?;
    are_true(&whole.messages)?;
    are_true(&killed.messages)?;
    // Whether a read-only call ends before a call beside it ends the run is a matter of timing.
    let said = format!("{:?}{:?}", killed.messages, whole.messages);
    if !said.contains(LOST) && !said.contains("the run ended while this call was running") {
        prop_assert_eq!(killed, whole);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_run_that_was_killed_anywhere_knows_what_one_in_a_single_process_knows(
        script in scripts(),
        in_text in any::<bool>(),
        kills in proptest::collection::vec(0_i64..40, 0..6),
    ) {
        block_on(remembers(script, in_text, &kills))?;
    }
}

#[test]
fn every_single_kill_of_a_run_with_rejected_answers_leaves_it_as_it_would_be() {
    let rejected = || Said::Answer { is_kept_back: true };
    let calls = |calls: &[(&'static str, u32)]| Said::Calls(calls.to_vec());
    let scripts = [
        vec![
            calls(&[("look", 1), ("refuse", 1)]),
            rejected(),
            calls(&[("count", 1)]),
            rejected(),
            rejected(),
        ],
        vec![
            calls(&[("look", 1)]),
            calls(&[("look", 1), ("fail", 1)]),
            calls(&[("look", 1)]),
            calls(&[("count", 1)]),
        ],
        vec![
            calls(&[("look", 1)]),
            calls(&[("look", 2)]),
            calls(&[("look", 3)]),
            calls(&[("seen", 3)]),
        ],
        vec![
            calls(&[("refuse", 1)]),
            rejected(),
            calls(&[("refuse", 2)]),
            calls(&[("refuse", 3)]),
        ],
    ];
    for script in scripts {
        for in_text in [false, true] {
            for points in 0..60 {
                let remembered = block_on(remembers(script.clone(), in_text, &[points]));
                assert!(
                    remembered.is_ok(),
                    "killed at {points} in {script:?}: {remembered:?}"
                );
            }
        }
    }
}
