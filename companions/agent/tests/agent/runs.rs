//! Runs that are cut off and go on.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use contract_agent::{
    ContractAgent, Delta, InnerAgent, MemoryStore, Message, Model, ReActAgent, Recovery, Reply,
    Request, RunError, RunResult, RunState, RunStore, Scripted, StoreError, Stored,
    ToolCallingAgent, stream_with,
};
use contract_runtime::approval::{Approval, ApprovalRequest, Decision};
use contract_runtime::prelude::*;
use contract_runtime::{CancellationToken, Effect, Status};
use proptest::prelude::*;
use serde_json::Value;
use tokio::sync::Notify;

/// What the bodies of a run did, and where its process is killed.
#[derive(Clone, Default)]
pub(super) struct World {
    ran: Arc<Mutex<Vec<String>>>,
    /// How many points are passed before the process is killed; below zero, it is not.
    left: Arc<AtomicI64>,
    pub(super) killed: Arc<Notify>,
    /// Cancels the run instead, which then ends by itself.
    token: Option<CancellationToken>,
}

impl World {
    /// The same world with another process in it.
    pub(super) fn with_process(&self, left: i64, is_cancelled: bool) -> Self {
        Self {
            ran: Arc::clone(&self.ran),
            left: Arc::new(AtomicI64::new(left)),
            killed: Arc::default(),
            token: is_cancelled.then(CancellationToken::new),
        }
    }

    /// A point at which the process may be killed: nothing after it happens.
    pub(super) async fn point(&self) {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 0 {
            if let Some(token) = &self.token {
                token.cancel();
                return tokio::task::yield_now().await;
            }
            self.killed.notify_one();
            std::future::pending::<()>().await;
        }
    }

    fn note(&self, what: String) {
        self.ran
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(what);
    }

    pub(super) async fn run(&self, what: String) {
        self.point().await;
        self.note(what);
        self.point().await;
    }

    fn times(&self, what: &str) -> usize {
        let ran = self.ran.lock().unwrap_or_else(PoisonError::into_inner);
        ran.iter().filter(|one| *one == what).count()
    }
}

/// Look at something.
#[tool(read_only)]
async fn look(n: u32, #[context] world: &World) -> u32 {
    world.run(format!("look {n}")).await;
    n
}

/// Write something down.
#[tool]
async fn write(n: u32, #[context] world: &World) -> u32 {
    world.run(format!("write {n}")).await;
    n
}

/// Set something, as often as you like.
#[tool(idempotent)]
async fn set(n: u32, #[context] world: &World) -> u32 {
    world.run(format!("set {n}")).await;
    n
}

/// Refuse everything.
#[tool]
#[pre(n > 1_000_000, "too small")]
async fn refuse(n: u32, #[context] world: &World) {
    world.run(format!("refuse {n}")).await;
}

/// Panic after the body began.
#[tool]
async fn panic(n: u32, #[context] world: &World) {
    world.run(format!("panic {n}")).await;
    panic!("on purpose");
}

/// Write something down, if a person agrees.
#[tool(confirm = "Write {n}?")]
async fn ask(n: u32, #[context] world: &World) -> u32 {
    world.run(format!("ask {n}")).await;
    n
}

fn registry(world: &World) -> Result<Registry, BuildError> {
    let all = Registry::builder()
        .tool(look)
        .tool(write)
        .tool(set)
        .tool(refuse);
    all.tool(panic).tool(ask).context(world.clone()).build()
}

/// A store whose process is killed before or after it writes a record.
pub(super) struct Killed(pub(super) MemoryStore, pub(super) World);

impl RunStore for Killed {
    fn append<'a>(&'a self, run: &'a str, expected: u64, record: &'a str) -> Stored<'a, ()> {
        Box::pin(async move {
            self.1.point().await;
            self.0.append(run, expected, record).await?;
            self.1.point().await;
            Ok(())
        })
    }

    fn read<'a>(&'a self, run: &'a str) -> Stored<'a, Vec<String>> {
        self.0.read(run)
    }
}

type Script = Vec<Vec<(&'static str, u32)>>;

/// Gives the reply that follows those in the conversation, so that it says the same in every process.
#[derive(Clone)]
struct Told {
    script: Arc<Script>,
    in_text: bool,
    world: World,
}

impl Model for Told {
    fn name(&self) -> &'static str {
        "told"
    }

    fn reply<'a>(&'a self, request: Request<'a>) -> Reply<'a> {
        let is_reply = |message: &&Message| matches!(message, Message::Assistant { .. });
        let replies = request.messages.iter().filter(is_reply).count();
        let calls = self.script.get(replies).cloned().unwrap_or_default();
        let in_text = self.in_text;
        self.world.note(format!("reply {replies}"));
        Box::pin(stream_with(move |emitter| async move {
            if in_text {
                let text = match calls.first() {
                    None => "Thought: enough.\nFinal Answer: done".to_owned(),
                    Some((tool, n)) => {
                        format!("Thought: on.\nAction: {tool}\nAction Input: {{\"n\": {n}}}")
                    }
                };
                emitter.emit(Ok(Delta::Text(text))).await;
            } else if calls.is_empty() {
                emitter.emit(Ok(Delta::Text("done".to_owned()))).await;
            }
            for (place, (tool, n)) in calls.iter().enumerate().filter(|_| !in_text) {
                let id = format!("{replies}-{place}");
                let call = ToolCall::new(id, *tool, format!("{{\"n\":{n}}}"));
                emitter.emit(Ok(Delta::Call(call))).await;
            }
        }))
    }
}

/// One process: begins the run, or goes on with it; none if it is killed.
async fn process<A: InnerAgent>(
    agent: A,
    world: &World,
    run: RunState,
    has_task: bool,
    answers_later: bool,
) -> Option<RunResult> {
    let mut builder = ContractAgent::builder(agent).recovery(Recovery::retry(100));
    if !answers_later {
        builder = builder.approver(async |_| Decision::Approved(Approval::Once));
    }
    let agent = builder.build();
    let context = match &world.token {
        Some(token) => Context::new().cancellation(token.clone()),
        None => Context::new(),
    };
    let answers = run.approval_requests().map(ApprovalRequest::approve);
    let context = answers.fold(context, Context::answer);
    let whole = async {
        if has_task {
            agent.run_after(run, "go").context(context).await
        } else {
            agent.resume(run).context(context).await
        }
    };
    tokio::select! {
        biased;
        () = world.killed.notified() => None,
        result = whole => Some(result),
    }
}

/// How a process ends, and whether it begins with another task.
#[derive(Clone, Copy, Debug)]
struct Life {
    points: i64,
    is_cancelled: bool,
    has_task: bool,
    /// It has no approver, and questions are answered when the run is resumed.
    answers_later: bool,
}

/// Runs a script to its end over several processes, each of which is killed or cancelled after as many points. Without a store the
/// state of a cancelled run is what the next one goes on with.
async fn run_with_kills(
    script: Script,
    in_text: bool,
    is_stored: bool,
    lives: Vec<Life>,
) -> Result<(), TestCaseError> {
    let (store, first) = (MemoryStore::new(), World::default());
    let script = Arc::new(script);
    let kills = lives.len();
    let (mut end, mut state, mut tasks) = (None, RunState::default(), 0);
    let last = Life {
        points: -1,
        is_cancelled: false,
        has_task: false,
        answers_later: true,
    };
    // Each may end with another question.
    for life in lives.into_iter().chain(std::iter::repeat_n(last, 20)) {
        let world = first.with_process(life.points, life.is_cancelled || !is_stored);
        let model = Told {
            script: Arc::clone(&script),
            in_text,
            world: world.clone(),
        };
        if is_stored {
            let killed: Arc<dyn RunStore> = Arc::new(Killed(store.clone(), world.clone()));
            let opened = RunState::open(killed, "run").await;
            state = opened.map_err(|error| TestCaseError::fail(error.to_string()))?;
        }
        let has_task = life.has_task || state.messages().is_empty();
        tasks += usize::from(has_task);
        let registry = registry(&world).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let run = std::mem::take(&mut state);
        end = if in_text {
            let agent = ReActAgent::new(model, registry);
            process(agent, &world, run, has_task, life.answers_later).await
        } else {
            let agent = ToolCallingAgent::new(model, registry);
            process(agent, &world, run, has_task, life.answers_later).await
        };
        match end.as_ref().map(|end| (&end.error, &end.state)) {
            Some((Some(RunError::Cancelled | RunError::Asked { .. }), left)) => {
                state = left.clone();
            }
            Some(_) => break,
            None => {}
        }
    }
    let Some(end) = end else {
        return Err(TestCaseError::fail("the last process was killed"));
    };
    prop_assert_eq!(end.answer.as_deref(), Some("done"), "{:?}", end.error);
    let begun = |message: &&Message| matches!(message, Message::User { text } if text == "go");
    let begun = end.messages.iter().filter(begun).count();
    prop_assert!(
        (1..=tasks).contains(&begun),
        "{} tasks, {} messages",
        tasks,
        begun
    );
    for (step, calls) in script.iter().enumerate() {
        let asked = first.times(&format!("reply {step}"));
        prop_assert!(
            (1..=1 + kills).contains(&asked),
            "reply {} was asked for {} times",
            step,
            asked
        );
        for (place, (tool, n)) in calls.iter().enumerate() {
            let ran = first.times(&format!("{tool} {n}"));
            if ["write", "panic", "ask"].contains(tool) {
                prop_assert!(ran <= 1, "{} {} ran {} times", tool, n, ran);
            }
            let id = format!("{step}-{place}");
            let is_it = |message: &&Message| matches!(message, Message::Tool { call_id, .. } if *call_id == id);
            let outcomes = end.messages.iter().filter(is_it).count();
            prop_assert!(outcomes <= 1, "call {} has {} outcomes", id, outcomes);
            let Some(Message::Tool { status, effect, .. }) = end.messages.iter().find(is_it) else {
                prop_assert!(in_text, "call {} has no outcome", id);
                continue;
            };
            let said_not_to_run = *effect == Effect::None && *tool != "look";
            prop_assert!(
                ran == 0 || !said_not_to_run,
                "{} {} ran and is {:?}",
                tool,
                n,
                status
            );
            prop_assert!(
                ran > 0 || *status != Status::Ok,
                "{} {} did not run and is ok",
                tool,
                n
            );
        }
    }
    if is_stored {
        is_what_the_log_tells(&end, store).await
    } else {
        Ok(())
    }
}

/// The state of a result is what its log adds up to.
async fn is_what_the_log_tells(end: &RunResult, store: MemoryStore) -> Result<(), TestCaseError> {
    let told = serde_json::to_value(&end.state);
    let mut asked = HashMap::new();
    let mut decided = HashSet::new();
    for record in store.read("run").await.unwrap_or_default() {
        let record: Value = serde_json::from_str(&record).unwrap_or_default();
        let index = record["index"].as_u64();
        if record["record"] == "asked" {
            asked.insert(index, record["request"]["arguments"].to_string());
        } else if record["record"] == "decided" {
            let call = asked.get(&index).cloned();
            prop_assert!(
                decided.insert(call),
                "an approved call was asked about again: {}",
                record
            );
        }
    }
    let store: Arc<dyn RunStore> = Arc::new(store);
    let logged = RunState::open(store, "run")
        .await
        .map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!(told.ok(), serde_json::to_value(&logged).ok());
    Ok(())
}

const TOOLS: [&str; 6] = ["look", "write", "set", "refuse", "panic", "ask"];

fn scripts() -> impl Strategy<Value = Script> {
    let reply = proptest::collection::vec(0..TOOLS.len(), 1..4);
    proptest::collection::vec(reply, 1..5).prop_map(|replies| {
        // Each call has a number of its own.
        let mut n = 0;
        let replies = replies.into_iter().map(|calls| {
            let calls = calls.into_iter().filter_map(|tool| {
                n += 1;
                Some((*TOOLS.get(tool)?, n))
            });
            calls.collect()
        });
        replies.collect()
    })
}

pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_call_runs_twice_or_is_said_not_to_run_wherever_the_process_is_killed(
        script in scripts(),
        in_text in any::<bool>(),
        is_stored in any::<bool>(),
        lives in proptest::collection::vec((0_i64..40, any::<[bool; 3]>()), 0..6),
    ) {
        let lives = lives.into_iter().map(|(points, [is_cancelled, has_task, answers_later])| {
            Life { points, is_cancelled, has_task, answers_later }
        });
        block_on(run_with_kills(script, in_text, is_stored, lives.collect()))?;
    }
}

#[test]
fn every_single_kill_of_one_run_is_survived() {
    let script: Script = vec![
        vec![("look", 1), ("write", 2), ("ask", 3)],
        vec![("refuse", 4), ("set", 5)],
        vec![("write", 6)],
    ];
    for in_text in [false, true] {
        for number in 0..240 {
            let second = Life {
                points: 1000,
                is_cancelled: false,
                has_task: number % 2 == 0,
                answers_later: number % 8 < 4,
            };
            let life = Life {
                points: number / 4,
                is_cancelled: number % 4 < 2,
                has_task: false,
                answers_later: number % 8 < 4,
            };
            let lives = vec![life, second];
            let survived = block_on(run_with_kills(script.clone(), in_text, true, lives));
            assert!(
                survived.is_ok(),
                "killed at {life:?}, {second:?}: {survived:?}"
            );
        }
    }
}

fn agent_of(model: Scripted, registry: Registry) -> ContractAgent<ToolCallingAgent<Scripted>> {
    ContractAgent::builder(ToolCallingAgent::new(model, registry))
        .recovery(Recovery::retry(1))
        .build()
}

fn calls<const N: usize>(calls: [(&str, u32); N]) -> Scripted {
    Scripted::new().calls("", calls.map(|(tool, n)| (tool, format!("{{\"n\":{n}}}"))))
}

#[tokio::test]
async fn of_two_processes_that_go_on_with_a_run_one_stops_before_its_call()
-> Result<(), Box<dyn std::error::Error>> {
    let (store, world) = (
        Arc::new(MemoryStore::new()),
        World::default().with_process(-1, false),
    );
    let open = || RunState::open(store.clone(), "run");
    let (one, other) = (open().await?, open().await?);
    let agent = || {
        Ok::<_, BuildError>(agent_of(
            calls([("write", 1)]).text("done"),
            registry(&world)?,
        ))
    };
    let first = agent()?.run_after(one, "go").await;
    assert!(first.success);
    let second = agent()?.run_after(other, "go").await;
    assert_eq!(
        second.error.ok_or("an error")?.to_string(),
        "the log of run `run` has not 0 records, because the run was continued elsewhere; read it again",
    );
    assert_eq!(world.times("write 1"), 1);
    Ok(())
}

#[tokio::test]
async fn a_question_without_an_approver_is_asked_again_when_the_run_goes_on()
-> Result<(), Box<dyn std::error::Error>> {
    let world = World::default().with_process(-1, false);
    let store = Arc::new(MemoryStore::new());
    let run = RunState::open(store.clone(), "run").await?;
    let first = agent_of(calls([("write", 1), ("ask", 2)]), registry(&world)?);
    let asked = first.run_after(run, "go").await;
    assert!(
        matches!(asked.error, Some(RunError::Asked { .. })),
        "{:?}",
        asked.error
    );
    assert_eq!((world.times("write 1"), world.times("ask 2")), (1, 0));

    let run = RunState::open(store, "run").await?;
    let model = Scripted::new().text("done");
    let agent = ContractAgent::builder(ToolCallingAgent::new(model.clone(), registry(&world)?))
        .approver(async |_| Decision::Approved(Approval::Once))
        .build();
    let result = agent.resume(run).await;
    assert!(result.success, "{:?}", result.error);
    assert_eq!((world.times("write 1"), world.times("ask 2")), (1, 1));
    let told = model.requests().pop().ok_or("a request")?;
    let statuses = told.iter().filter_map(|message| match message {
        Message::Tool { status, .. } => Some(*status),
        _ => None,
    });
    assert_eq!(statuses.collect::<Vec<_>>(), [Status::Ok, Status::Ok]);
    Ok(())
}

#[tokio::test]
async fn what_cannot_be_resumed_says_why() -> Result<(), Box<dyn std::error::Error>> {
    let world = World::default().with_process(-1, false);
    let agent = agent_of(Scripted::new().text("done"), registry(&world)?);
    let result = agent.resume(RunState::default()).await;
    assert_eq!(
        result.error.ok_or("an error")?.to_string(),
        "the run cannot be resumed: it has no task yet; begin it with `run_after`",
    );

    let store = Arc::new(MemoryStore::new());
    store
        .append("new", 0, r#"{"record":"opened","format":9}"#)
        .await?;
    let error = RunState::open(store.clone(), "new")
        .await
        .err()
        .ok_or("an error")?;
    assert_eq!(
        error.to_string(),
        "the log of run `new` has format 9, and this version reads format 1; update contract-agent",
    );
    store.append("odd", 0, "{}").await?;
    assert!(matches!(
        RunState::open(store, "odd").await,
        Err(StoreError::Damaged { record: 0, .. })
    ));
    Ok(())
}

#[tokio::test]
async fn another_task_follows_a_run_that_was_cut() -> Result<(), Box<dyn std::error::Error>> {
    let world = World::default().with_process(-1, false);
    let script = calls([("refuse", 1), ("write", 2)]);
    let first = ContractAgent::builder(ToolCallingAgent::new(script, registry(&world)?)).build();
    let cut = first.run("go").await;
    assert!(matches!(cut.error, Some(RunError::Contract { .. })));
    let state: RunState = serde_json::from_str(&serde_json::to_string(&cut.state)?)?;

    let model = Scripted::new().text("done");
    let result = agent_of(model.clone(), registry(&world)?)
        .run_after(state, "and now?")
        .await;
    assert!(result.success);
    let told = model.requests().pop().ok_or("a request")?;
    let statuses = told.iter().filter_map(|message| match message {
        Message::Tool { status, effect, .. } => Some((*status, *effect)),
        _ => None,
    });
    let statuses: Vec<_> = statuses.collect();
    assert_eq!(
        statuses,
        [
            (Status::Violation, Effect::None),
            (Status::Cancelled, Effect::None)
        ]
    );
    assert_eq!(result.iterations, 1, "budgets are of one task");
    Ok(())
}

#[tokio::test]
async fn an_answer_is_given_again_without_a_request() -> Result<(), Box<dyn std::error::Error>> {
    let world = World::default().with_process(-1, false);
    let first = agent_of(Scripted::new().text("done"), registry(&world)?)
        .run("go")
        .await;
    let silent = agent_of(Scripted::new(), registry(&world)?);
    let again = silent.resume(first.state).await;
    assert_eq!(
        (again.answer.as_deref(), again.iterations),
        (Some("done"), 1)
    );
    Ok(())
}

/// Kills the first process in the body of its last call, and returns what the store has.
async fn killed_in<A: InnerAgent>(
    agent: A,
    world: &World,
    store: &Arc<MemoryStore>,
) -> Result<RunState, StoreError> {
    let run = RunState::open(store.clone(), "run").await?;
    let ended = process(agent, world, run, true, false).await;
    assert!(ended.is_none(), "{ended:?}");
    RunState::open(store.clone(), "run").await
}

#[tokio::test]
async fn an_agent_that_reads_replies_in_another_form_does_not_resume_a_run()
-> Result<(), Box<dyn std::error::Error>> {
    let store = Arc::new(MemoryStore::new());
    let world = World::default().with_process(0, false);
    let text = "Thought: x\nAction: write\nAction Input: {\"n\": 1}";
    let began = ReActAgent::new(Scripted::new().text(text), registry(&world)?);
    let run = killed_in(began, &world, &store).await?;
    let world = world.with_process(-1, false);
    let other = agent_of(Scripted::new().text("done"), registry(&world)?);
    let result = other.resume(run).await;
    assert_eq!(
        result.error.ok_or("an error")?.to_string(),
        "the run cannot be resumed: its replies were read as `react`, and this agent reads `tool calls`; resume it with an agent like the one that began it",
    );
    Ok(())
}

/// Do something once in a run.
#[tool]
#[pre(history().count(once) < 1, "once is enough")]
async fn once(n: u32, #[context] world: &World) {
    world.run(format!("once {n}")).await;
}

#[tokio::test]
async fn a_run_that_was_killed_in_a_body_does_not_know_its_calls_whatever_run_is_around_it()
-> Result<(), Box<dyn std::error::Error>> {
    for around in [
        Context::new(),
        Context::new().run(&contract_runtime::Run::new()),
    ] {
        let store = Arc::new(MemoryStore::new());
        let world = World::default().with_process(3, false);
        let all = |world: &World| {
            Registry::builder()
                .tool(once)
                .tool(write)
                .context(world.clone())
                .build()
        };
        let script = calls([("once", 1)]).calls("", [("write", r#"{"n":2}"#)]);
        let run = killed_in(ToolCallingAgent::new(script, all(&world)?), &world, &store).await?;
        let world = world.with_process(-1, false);
        let agent = agent_of(calls([("once", 3)]).text("done"), all(&world)?);
        let result = agent.resume(run).context(around).await;
        assert!(result.success, "{:?}", result.error);
        assert_eq!((world.times("once 1"), world.times("once 3")), (1, 0));
    }
    Ok(())
}

#[tokio::test]
async fn a_rejected_answer_is_shown_by_no_state() -> Result<(), Box<dyn std::error::Error>> {
    let store = Arc::new(MemoryStore::new());
    let world = World::default().with_process(-1, false);
    let agent = |model| {
        let agent = ContractAgent::builder(ToolCallingAgent::new(model, registry(&world)?));
        let agent = agent
            .recovery(Recovery::retry(2))
            .answer_post("discreet", |text| !text.contains("SECRET"));
        Ok::<_, BuildError>(agent.build())
    };
    let run = RunState::open(store.clone(), "run").await?;
    // The model fails before it answers again.
    let first = agent(Scripted::new().text("SECRET"))?
        .run_after(run, "go")
        .await;
    assert!(
        matches!(first.error, Some(RunError::Model { .. })),
        "{:?}",
        first.error
    );
    let run = RunState::open(store.clone(), "run").await?;
    let model = Scripted::new().text("done");
    let result = agent(model.clone())?.resume(run).await;
    assert!(result.success);
    let reads = format!("{:?}", model.requests());
    assert!(
        reads.contains("SECRET"),
        "the model reads what it is told about: {reads}"
    );
    let reopened = RunState::open(store, "run").await?;
    let next = Scripted::new().text("done");
    let after = agent(next.clone())?
        .run_after(reopened.clone(), "more")
        .await;
    for shown in [
        format!("{:?}", first.state.messages()),
        format!("{:?}", first.messages),
        format!("{:?}", result.messages),
        format!("{:?}", reopened.messages()),
        format!("{:?}", after.messages),
        format!("{:?}", next.requests()),
    ] {
        assert!(!shown.contains("SECRET"), "{shown}");
    }
    Ok(())
}

#[tokio::test]
async fn a_run_that_failed_is_not_resumed_and_takes_another_task()
-> Result<(), Box<dyn std::error::Error>> {
    let store = Arc::new(MemoryStore::new());
    let world = World::default().with_process(-1, false);
    let run = RunState::open(store.clone(), "run").await?;
    let agent = |model| {
        Ok::<_, BuildError>(
            ContractAgent::builder(ToolCallingAgent::new(model, registry(&world)?)).build(),
        )
    };
    let failed = agent(calls([("refuse", 1)]))?.run_after(run, "go").await;
    let run = RunState::open(store.clone(), "run").await?;
    assert!(!run.is_open());
    let silent = Scripted::new();
    let again = agent(silent.clone())?.resume(run).await;
    assert_eq!((again.error, again.iterations), (failed.error, 1));
    assert!(silent.requests().is_empty());
    let run = RunState::open(store, "run").await?;
    assert!(
        agent(Scripted::new().text("done"))?
            .run_after(run, "more")
            .await
            .success
    );
    Ok(())
}

/// Return lists in lists.
#[tool]
fn nested(n: usize) -> contract_runtime::Content {
    contract_runtime::Content::text("[".repeat(n) + &"]".repeat(n))
}

#[tokio::test]
async fn a_result_of_any_depth_can_be_read_again() -> Result<(), Box<dyn std::error::Error>> {
    for depth in 110..140 {
        let store = Arc::new(MemoryStore::new());
        let run = RunState::open(store.clone(), "run").await?;
        let model = Scripted::new()
            .calls("", [("nested", format!("{{\"n\":{depth}}}"))])
            .text("done");
        let agent = agent_of(model, Registry::builder().tool(nested).build()?);
        assert!(agent.run_after(run, "go").await.success);
        RunState::open(store, "run").await?;
    }
    Ok(())
}

#[tokio::test]
async fn open_calls_of_messages_from_elsewhere_are_not_made()
-> Result<(), Box<dyn std::error::Error>> {
    let world = World::default().with_process(-1, false);
    let calls = vec![ToolCall::new("1", "write", r#"{"n":1}"#)];
    let messages: Vec<Message> = serde_json::from_value(serde_json::json!([
        {"role": "user", "text": "go"},
        {"role": "assistant", "text": "", "calls": calls},
        {"role": "user", "text": "well?"},
        {"role": "assistant", "text": "", "calls": calls},
    ]))?;
    let result = agent_of(Scripted::new().text("done"), registry(&world)?)
        .resume(messages.into())
        .await;
    assert!(result.success, "{:?}", result.error);
    assert_eq!(world.times("write 1"), 0);
    assert_eq!(result.state.messages().len(), result.messages.len());
    let unknown = |message: &&Message| {
        matches!(
            message,
            Message::Tool {
                effect: Effect::Unknown,
                ..
            }
        )
    };
    assert_eq!(result.messages.iter().filter(unknown).count(), 2);
    Ok(())
}
