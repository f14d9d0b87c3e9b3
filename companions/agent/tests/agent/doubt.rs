//! Records that may or may not have been stored, because the run was left or the store failed.

use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use contract_agent::{
    ContractAgent, MemoryStore, Message, RunError, RunState, RunStore, Scripted, StoreError,
    Stored, ToolCallingAgent,
};
use contract_runtime::IdempotencyKey;
use contract_runtime::prelude::*;

/// What becomes of the append with this number.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// It is stored, and the answer takes a while.
    Slow,
    /// It is stored, and fails.
    StoredAndFailed,
    /// It fails.
    Failed,
}

/// A store in which one append goes wrong.
#[derive(Clone)]
struct Faulty {
    store: MemoryStore,
    appends: Arc<AtomicU64>,
    wrong: u64,
    fault: Fault,
}

impl RunStore for Faulty {
    fn append<'a>(&'a self, run: &'a str, expected: u64, record: &'a str) -> Stored<'a, ()> {
        Box::pin(async move {
            let number = self.appends.fetch_add(1, Ordering::Relaxed);
            let is_wrong = number == self.wrong;
            if !is_wrong || self.fault != Fault::Failed {
                self.store.append(run, expected, record).await?;
            }
            match self.fault {
                _ if !is_wrong => Ok(()),
                Fault::Slow => {
                    let mut is_over = false;
                    poll_fn(|task| {
                        task.waker().wake_by_ref();
                        if std::mem::replace(&mut is_over, true) {
                            Poll::Ready(Ok(()))
                        } else {
                            Poll::Pending
                        }
                    })
                    .await
                }
                Fault::StoredAndFailed | Fault::Failed => Err(StoreError::Failed {
                    run: run.to_owned(),
                    action: "written",
                    reason: "timeout".to_owned(),
                }),
            }
        })
    }

    fn read<'a>(&'a self, run: &'a str) -> Stored<'a, Vec<String>> {
        self.store.read(run)
    }
}

/// The keys of payments, in the order in which their bodies ran.
#[derive(Clone, Default)]
struct Paid(Arc<Mutex<Vec<String>>>);

/// Pay.
#[tool]
fn pay(to: String, #[context] key: &IdempotencyKey, #[context] paid: &Paid) -> String {
    paid.0.lock().unwrap().push(format!("{to} {key}"));
    to
}

fn agent(paid: &Paid, model: Scripted) -> ContractAgent<ToolCallingAgent<Scripted>> {
    let registry = Registry::builder().tool(pay).context(paid.clone()).build();
    ContractAgent::builder(ToolCallingAgent::new(model, registry.unwrap())).build()
}

fn model() -> Scripted {
    Scripted::new()
        .calls("", [("pay", r#"{"to":"ben"}"#), ("pay", r#"{"to":"eve"}"#)])
        .text("paid")
}

/// Makes one append fail, and resumes the run: no call is lost or made under two keys, no reply is asked for again, and the log is the
/// conversation.
async fn goes_on(fault: Fault, wrong: u64) {
    let told = format!("{fault:?} at append {wrong}");
    let store = Faulty {
        store: MemoryStore::new(),
        appends: Arc::default(),
        wrong,
        fault,
    };
    let (paid, script) = (Paid::default(), model());
    let run = RunState::open(Arc::new(store.clone()), "run")
        .await
        .unwrap();
    let agent = agent(&paid, script.clone());
    let mut events = agent.run_after(run, "Pay.").stream();
    // Left at the slow append, or read to its end.
    let mut next = Box::pin(async { while events.next().await.is_some() {} });
    poll_fn(|task| {
        let over = next.as_mut().poll(task).is_ready();
        let is_left = store.appends.load(Ordering::Relaxed) > wrong && fault == Fault::Slow;
        if over || is_left {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    drop(next);
    let mut result = events.finish();
    for _ in 0..2 {
        if result.state.answer().is_some() {
            break;
        }
        let is_store = matches!(result.error, None | Some(RunError::Store { .. }));
        assert!(is_store, "{told}: {:?}", result.error);
        result = agent.resume(result.state).await;
        if matches!(result.error, Some(RunError::NotResumable { .. })) {
            // The task was not stored.
            result = agent.run_after(result.state, "Pay.").await;
        }
    }
    assert_eq!(
        result.state.answer(),
        Some("paid"),
        "{told}: {:?}",
        result.error
    );
    assert_eq!(script.requests().len(), 2, "{told}");
    // A call whose end is lost is made again under its key.
    let mut made = paid.0.lock().unwrap().clone();
    made.dedup();
    assert_eq!(made.len(), 2, "{told}: {made:?}");
    assert_ne!(
        made[0][4..],
        made[1][4..],
        "{told}: two calls have two keys"
    );
    let stored = RunState::open(Arc::new(store), "run").await.unwrap();
    assert_eq!(stored.messages(), result.state.messages(), "{told}");
    let roles = stored.messages().into_iter().map(|message| match message {
        Message::User { .. } => 'u',
        Message::Assistant { .. } => 'a',
        Message::Tool { .. } => 't',
        _ => '?',
    });
    assert_eq!(roles.collect::<String>(), "uatta", "{told}");
}

#[tokio::test]
async fn a_record_in_doubt_is_neither_lost_nor_doubled() {
    // Opened, the task, the reply, a beginning and an end for each call, the results, the answer twice.
    for fault in [Fault::Slow, Fault::StoredAndFailed, Fault::Failed] {
        for wrong in 0..10 {
            goes_on(fault, wrong).await;
        }
    }
}

#[tokio::test]
async fn a_beginning_that_cannot_be_recorded_ends_the_run() {
    let store = Faulty {
        store: MemoryStore::new(),
        appends: Arc::default(),
        wrong: 3,
        fault: Fault::Failed,
    };
    let paid = Paid::default();
    let run = RunState::open(Arc::new(store), "run").await.unwrap();
    let result = agent(&paid, model()).run_after(run, "Pay.").await;
    assert!(
        matches!(result.error, Some(RunError::Store { .. })),
        "{:?}",
        result.error
    );
    assert!(paid.0.lock().unwrap().is_empty());
    let result = agent(&paid, Scripted::new().text("paid"))
        .resume(result.state)
        .await;
    assert!(result.success, "{:?}", result.error);
    assert_eq!(paid.0.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn messages_before_a_task_are_part_of_a_state_as_json() {
    let text = "Be brief.".to_owned();
    let rule = Message::System {
        text,
        by_agent: false,
    };
    let run = RunState::default().with_messages([rule.clone()]);
    let run: RunState = serde_json::from_str(&serde_json::to_string(&run).unwrap()).unwrap();
    let result = agent(&Paid::default(), Scripted::new().text("Yes."))
        .run_after(run, "Hello.")
        .await;
    assert_eq!(result.messages.first(), Some(&rule));
}
