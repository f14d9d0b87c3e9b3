//! Approvals that outlive their process. Two registries and agents over one store stand for two processes.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use contract_agent::{
    ContractAgent, Event, FileStore, LoopDetection, MemoryStore, Message, RunError, RunResult,
    RunState, RunStore, Scripted, Stored, ToolCallingAgent,
};
use contract_runtime::approval::{Approval, ApprovalRequest, Decision};
use contract_runtime::observe::Observer;
use contract_runtime::prelude::*;
use contract_runtime::{Builder, Status};
use tokio::sync::Notify;

type Failed = Box<dyn std::error::Error>;

/// Whose price changes, and who was paid.
#[derive(Default)]
struct Shop {
    price: AtomicU32,
    paid: Mutex<Vec<String>>,
}

impl Shop {
    fn pays(&self, to: String) {
        let mut paid = self.paid.lock().unwrap_or_else(PoisonError::into_inner);
        paid.push(to);
    }

    fn paid(&self) -> Vec<String> {
        let paid = self.paid.lock().unwrap_or_else(PoisonError::into_inner);
        paid.clone()
    }

    fn price(&self) -> u32 {
        self.price.load(Ordering::Relaxed)
    }
}

/// Pay somebody.
#[tool(confirm = "Pay {to} {} EUR?", price)]
#[given(price = shop.price())]
async fn pay(to: String, #[context] shop: &Shop) -> String {
    tokio::task::yield_now().await;
    shop.pays(to);
    format!("paid {price}")
}

/// Pay somebody.
#[tool(confirm = "Pay {to} {} EUR?", price)]
#[given(price = shop.price())]
async fn burn(to: String, #[context] shop: &Shop) -> String {
    shop.pays(format!("burnt {to}"));
    format!("paid {price}")
}

fn pay_only(builder: Builder) -> Builder {
    builder.tool(pay)
}

/// One process: its agent has a model that says this, and a registry of its own.
fn agent(
    shop: &Arc<Shop>,
    tools: fn(Builder) -> Builder,
    model: &Scripted,
) -> Result<ContractAgent<ToolCallingAgent<Scripted>>, BuildError> {
    let builder = tools(Registry::builder()).context_arc(Arc::clone(shop));
    let inner = ToolCallingAgent::new(model.clone(), builder.build()?);
    let agent = ContractAgent::builder(inner).loop_detection(LoopDetection::off());
    Ok(agent.build())
}

fn done() -> Scripted {
    Scripted::new().text("done")
}

const ADA: (&str, &str) = ("pay", r#"{"to":"ada"}"#);

/// Runs the first process, which asks and ends.
async fn asked(shop: &Arc<Shop>, store: &Arc<MemoryStore>) -> Result<RunState, Failed> {
    let run = RunState::open(store.clone(), "run").await?;
    let model = Scripted::new().calls("", [ADA]);
    let first = agent(shop, pay_only, &model)?;
    let ended = first.run_after(run, "go").await;
    assert!(
        matches!(ended.error, Some(RunError::Asked { .. })),
        "{:?}",
        ended.error
    );
    Ok(RunState::open(store.clone(), "run").await?)
}

/// What a page shows, and sends back as JSON.
fn shown(run: &RunState) -> Result<ApprovalRequest, Failed> {
    let requests: Vec<_> = run.approval_requests().collect();
    let [request] = requests.as_slice() else {
        return Err(format!("not one request: {requests:?}").into());
    };
    Ok(serde_json::from_str(&serde_json::to_string(request)?)?)
}

fn question(result: &RunResult) -> Option<String> {
    match &result.error {
        Some(RunError::Asked { requests }) => Some(requests.first()?.to_string()),
        _ => None,
    }
}

fn told(model: &Scripted) -> Vec<(Status, String)> {
    let request = model.requests().pop().unwrap_or_default();
    let outcomes = request.into_iter().filter_map(|message| match message {
        Message::Tool { status, text, .. } => Some((status, text)),
        _ => None,
    });
    outcomes.collect()
}

#[tokio::test]
async fn an_approved_call_runs_once_in_another_process_without_a_question() -> Result<(), Failed> {
    let (shop, store) = (Arc::default(), Arc::new(MemoryStore::new()));
    let run = asked(&shop, &store).await?;
    let request = shown(&run)?;
    assert_eq!(
        (request.to_string(), request.tool.as_str()),
        ("Pay \"ada\" 0 EUR?".into(), "pay")
    );
    assert!(shop.paid().is_empty());

    let model = Scripted::new().calls("", [ADA]);
    let context = Context::new().answer(request.approve());
    let second = agent(&shop, pay_only, &model)?
        .resume(run)
        .context(context)
        .await;
    assert_eq!(told(&model), [(Status::Ok, "paid 0".to_owned())]);
    assert_eq!(shop.paid(), ["ada"]);
    // The model makes the same call again, and the answer is used up.
    assert!(question(&second).is_some(), "{:?}", second.error);

    let run = RunState::open(store, "run").await?;
    assert_ne!(shown(&run)?.id, request.id);
    let context = Context::new().answer(request.approve());
    let third = agent(&shop, pay_only, &done())?
        .resume(run)
        .context(context)
        .await;
    assert!(question(&third).is_some(), "{:?}", third.error);
    assert_eq!(shop.paid(), ["ada"]);
    Ok(())
}

#[tokio::test]
async fn of_two_processes_with_one_answer_one_makes_the_call() -> Result<(), Failed> {
    let (shop, store) = (Arc::default(), Arc::new(MemoryStore::new()));
    let one = asked(&shop, &store).await?;
    let other = RunState::open(store.clone(), "run").await?;
    let answer = shown(&one)?.approve();
    let (model, silent) = (done(), done());
    let (first, second) = (
        agent(&shop, pay_only, &model)?,
        agent(&shop, pay_only, &silent)?,
    );
    let context = || Context::new().answer(answer.clone());
    let (first, second) = tokio::join!(
        first.resume(one).context(context()),
        second.resume(other).context(context())
    );
    assert_eq!(shop.paid(), ["ada"]);
    let lost = |result: &RunResult| matches!(result.error, Some(RunError::Store { .. }));
    assert!(first.success != second.success && lost(&first) != lost(&second));
    Ok(())
}

#[tokio::test]
async fn what_is_not_the_approved_call_asks_again() -> Result<(), Failed> {
    let another: fn(Builder) -> Builder = |all| all.tool(burn).rename("burn", "pay");
    let observed: fn(Builder) -> Builder = |all| all.tool(pay).policy(Policy::Observe);
    let described: fn(Builder) -> Builder = |all| all.tool(pay).without_confirms().confirm("pay");
    for (tools, price, caller, same) in [
        (pay_only as fn(Builder) -> Builder, 0, None, true),
        (described, 0, None, true),
        (another, 0, None, false),
        (observed, 0, None, false),
        (pay_only, 7, None, false),
        (pay_only, 0, Some("mallory"), false),
    ] {
        let (shop, store): (Arc<Shop>, _) = (Arc::default(), Arc::new(MemoryStore::new()));
        let run = asked(&shop, &store).await?;
        shop.price.store(price, Ordering::Relaxed);
        let context = Context::new().answer(shown(&run)?.approve());
        let context = || match caller {
            Some(caller) => context.clone().identified_as(caller),
            None => context.clone(),
        };
        let second = agent(&shop, tools, &done())?
            .resume(run)
            .context(context())
            .await;
        if same {
            assert!(second.success, "{:?}", second.error);
            continue;
        }
        assert_eq!(question(&second), Some(format!("Pay \"ada\" {price} EUR?")));
        assert!(shop.paid().is_empty());
        // The new question has an answer of its own.
        let run = RunState::open(store, "run").await?;
        let answer = shown(&run)?.approve();
        let third = agent(&shop, tools, &done())?
            .resume(run)
            .context(context().answer(answer))
            .await;
        assert!(third.success, "{:?}", third.error);
        assert_eq!(shop.paid().len(), 1);
    }
    Ok(())
}

#[tokio::test]
async fn an_approved_call_of_a_tool_that_was_renamed_is_told_so() -> Result<(), Failed> {
    let (shop, store) = (Arc::default(), Arc::new(MemoryStore::new()));
    let run = asked(&shop, &store).await?;
    let context = Context::new().answer(shown(&run)?.approve());
    let (model, tools) = (done(), |all: Builder| all.tool(pay).rename("pay", "spend"));
    let result = agent(&shop, tools, &model)?
        .resume(run)
        .context(context)
        .await;
    assert!(result.success, "{:?}", result.error);
    let [(Status::UnknownTool, _)] = told(&model)[..] else {
        return Err(format!("{:?}", told(&model)).into());
    };
    assert!(shop.paid().is_empty());
    Ok(())
}

#[tokio::test]
async fn a_denied_call_is_told_and_neither_asked_nor_made_again() -> Result<(), Failed> {
    let (shop, store) = (Arc::default(), Arc::new(MemoryStore::new()));
    let run = asked(&shop, &store).await?;
    let request = shown(&run)?;
    // The process is killed when the denial is recorded.
    let killed = Arc::new(KilledAfter {
        store: store.clone(),
        word: "\"decided\"",
        killed: Notify::new(),
    });
    let run_there = RunState::open(killed.clone(), "run").await?;
    let second = agent(&shop, pay_only, &done())?;
    let context = Context::new().answer(request.deny("too much"));
    killed
        .kills(second.resume(run_there).context(context))
        .await?;

    let model = Scripted::new().calls("", [ADA]).text("done");
    let run = RunState::open(store.clone(), "run").await?;
    assert_eq!(run.approval_requests().count(), 0);
    // An approval comes too late, for this call and for the next one.
    let context = Context::new().answer(request.approve());
    let third = agent(&shop, pay_only, &model)?
        .resume(run)
        .context(context)
        .await;
    assert!(third.success, "{:?}", third.error);
    let denied = "not started, because it was denied: too much";
    let again = format!("{denied} (for the rest of the run)");
    assert_eq!(
        told(&model),
        [(Status::Denied, denied.to_owned()), (Status::Denied, again)]
    );
    assert!(shop.paid().is_empty());
    Ok(())
}

#[tokio::test]
async fn a_call_that_is_denied_on_a_resume_stays_denied_in_that_run() -> Result<(), Failed> {
    let (shop, store) = (Arc::default(), Arc::new(MemoryStore::new()));
    let run = asked(&shop, &store).await?;
    let context = Context::new().answer(shown(&run)?.deny("too much"));
    let model = Scripted::new().calls("", [ADA]).text("done");
    let second = agent(&shop, pay_only, &model)?;
    let ended = second.resume(run).context(context).await;
    assert!(ended.success, "{:?}", ended.error);
    let denied = "not started, because it was denied: too much";
    let again = format!("{denied} (for the rest of the run)");
    let told = told(&model);
    assert_eq!(
        told,
        [(Status::Denied, denied.to_owned()), (Status::Denied, again)]
    );
    assert!(shop.paid().is_empty());
    Ok(())
}

/// A store whose process is killed after a record with this word.
struct KilledAfter {
    store: Arc<MemoryStore>,
    word: &'static str,
    killed: Notify,
}

impl KilledAfter {
    async fn kills(&self, run: impl Future<Output = RunResult>) -> Result<(), Failed> {
        tokio::select! {
            () = self.killed.notified() => Ok(()),
            result = run => Err(format!("it was not killed: {result:?}").into()),
        }
    }
}

impl RunStore for KilledAfter {
    fn append<'a>(&'a self, run: &'a str, expected: u64, record: &'a str) -> Stored<'a, ()> {
        Box::pin(async move {
            self.store.append(run, expected, record).await?;
            if record.contains(self.word) {
                self.killed.notify_one();
                std::future::pending::<()>().await;
            }
            Ok(())
        })
    }

    fn read<'a>(&'a self, run: &'a str) -> Stored<'a, Vec<String>> {
        self.store.read(run)
    }
}

#[tokio::test]
async fn a_process_may_be_killed_while_its_approver_waits_and_after_it_decided()
-> Result<(), Failed> {
    for word in ["\"asked\"", "\"decided\""] {
        let (shop, store) = (Arc::default(), Arc::new(MemoryStore::new()));
        let killed = Arc::new(KilledAfter {
            store: store.clone(),
            word,
            killed: Notify::new(),
        });
        let run = RunState::open(killed.clone(), "run").await?;
        let registry = pay_only(Registry::builder())
            .context_arc(Arc::clone(&shop))
            .build()?;
        let inner = ToolCallingAgent::new(Scripted::new().calls("", [ADA]), registry);
        let first = ContractAgent::builder(inner)
            .approver(async |_| Decision::Approved(Approval::Once))
            .build();
        killed.kills(first.run_after(run, "go")).await?;

        let run = RunState::open(store.clone(), "run").await?;
        let context = match run.approval_requests().next() {
            Some(request) => Context::new().answer(request.approve()),
            None => Context::new(),
        };
        assert_eq!(run.approval_requests().count() == 0, word == "\"decided\"");
        let model = done();
        let second = agent(&shop, pay_only, &model)?
            .resume(run)
            .context(context)
            .await;
        assert!(second.success, "{word}: {:?}", second.error);
        assert_eq!(told(&model), [(Status::Ok, "paid 0".to_owned())]);
        assert_eq!(shop.paid(), ["ada"]);
    }
    Ok(())
}

#[tokio::test]
async fn a_resumed_run_remembers_what_was_decided_in_it() -> Result<(), Failed> {
    let again = Decision::Approved(Approval::SameArguments);
    let always = Decision::Approved(Approval::SameConditions);
    let no = Decision::Denied("no".to_owned());
    let (ok, denied) = (Status::Ok, Status::Denied);
    for (decision, of_ada, of_eve) in [
        (Decision::Approved(Approval::Once), None, None),
        (again, Some(ok), None),
        (always, Some(ok), Some(ok)),
        (no, Some(denied), None),
    ] {
        for (to, expected) in [("ada", of_ada), ("eve", of_eve)] {
            let (shop, store) = (Arc::default(), Arc::new(MemoryStore::new()));
            let run = asked(&shop, &store).await?;
            let answer = shown(&run)?.answer(decision.clone());
            // The model fails, and the process with it.
            let second = agent(&shop, pay_only, &Scripted::new())?;
            second
                .resume(run)
                .context(Context::new().answer(answer))
                .await;

            let run = RunState::open(store, "run").await?;
            let call = ("pay", format!(r#"{{"to":"{to}"}}"#));
            let model = Scripted::new().calls("", [call]).text("done");
            let third = agent(&shop, pay_only, &model)?.resume(run).await;
            match expected {
                None => assert!(
                    question(&third).is_some(),
                    "{decision:?} {to}: {:?}",
                    third.error
                ),
                Some(expected) => {
                    assert!(third.success, "{decision:?} {to}: {:?}", third.error);
                    assert_eq!(told(&model).pop().map(|(status, _)| status), Some(expected));
                }
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn three_questions_without_an_answer_deny_a_call_over_several_processes() -> Result<(), Failed>
{
    let (shop, store) = (Arc::default(), Arc::new(MemoryStore::new()));
    asked(&shop, &store).await?;
    let count = Arc::new(AtomicU64::new(0));
    let model = done();
    for process in 1..=4 {
        let run = RunState::open(store.clone(), "run").await?;
        let registry = pay_only(Registry::builder())
            .context_arc(Arc::clone(&shop))
            .build()?;
        let agent = ContractAgent::builder(ToolCallingAgent::new(model.clone(), registry))
            .approver({
                let count = Arc::clone(&count);
                move |_| {
                    count.fetch_add(1, Ordering::Relaxed);
                    async { Decision::Unanswered }
                }
            });
        let result = agent.build().resume(run).await;
        assert_eq!(
            result.success,
            process >= 3,
            "{process}: {:?}",
            result.error
        );
    }
    assert_eq!(count.load(Ordering::Relaxed), 3);
    assert!(
        matches!(told(&model)[..], [(Status::Denied, _)]),
        "{:?}",
        told(&model)
    );
    Ok(())
}

/// The first process of the test below, where its folder is set.
const FOLDER: &str = "CONTRACT_AGENT_APPROVALS";

#[tokio::test]
async fn an_approval_reaches_a_real_second_process() -> Result<(), Failed> {
    let (shop, model) = (Arc::default(), Scripted::new().calls("", [ADA]));
    if let Some(folder) = std::env::var_os(FOLDER) {
        let run = RunState::open(Arc::new(FileStore::new(folder)?), "run").await?;
        agent(&shop, pay_only, &model)?.run_after(run, "go").await;
        return Ok(());
    }
    let folder =
        std::env::temp_dir().join(format!("contract-agent-approvals-{}", std::process::id()));
    let name = "approvals::an_approval_reaches_a_real_second_process";
    let mut first = std::process::Command::new(std::env::current_exe()?);
    let first = first
        .args([name, "--exact"])
        .env(FOLDER, &folder)
        .output()?;
    assert!(first.status.success(), "{first:?}");

    let run = RunState::open(Arc::new(FileStore::new(&folder)?), "run").await?;
    let context = Context::new().answer(shown(&run)?.approve());
    let second = agent(&shop, pay_only, &done())?
        .resume(run)
        .context(context)
        .await;
    std::fs::remove_dir_all(folder)?;
    assert!(second.success, "{:?}", second.error);
    assert_eq!(shop.paid(), ["ada"]);
    Ok(())
}

#[tokio::test]
async fn an_observer_reads_who_decided_also_in_another_process() -> Result<(), Failed> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let observer = || {
        let noted = Arc::clone(&seen);
        Observer::new().call_ended(move |_, outcome, _| {
            let mut noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
            noted.extend_from_slice(outcome.decisions());
        })
    };
    let (shop, store) = (Arc::default(), Arc::new(MemoryStore::new()));
    let run = asked(&shop, &store).await?;
    let answer = shown(&run)?.approve().by("ada");
    let context = Context::new().answer(answer).observe(observer());
    let second = agent(&shop, pay_only, &done())?;
    let second = second.resume(run).context(context).await;
    assert!(second.success, "{:?}", second.error);

    let model = Scripted::new().calls("", [ADA]).text("done");
    let registry = pay_only(Registry::builder()).context_arc(shop).build()?;
    let denied = || Decision::Denied("not today".to_owned()).by("bob");
    let agent = ContractAgent::builder(ToolCallingAgent::new(model, registry))
        .approver(move |_| std::future::ready(denied()))
        .build();
    let mut events = agent
        .run("go")
        .context(Context::new().observe(observer()))
        .stream();
    let mut answered = Vec::new();
    while let Some(event) = events.next().await {
        if let Event::ApprovalAnswered { by, .. } = event {
            answered.push(by);
        }
    }
    assert_eq!(answered, [Some("bob".to_owned())]);
    let approved = Decision::Approved(Approval::Once).by("ada");
    let seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(*seen, [approved, denied()]);
    Ok(())
}
