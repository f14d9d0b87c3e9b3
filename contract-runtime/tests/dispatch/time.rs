//! Timeouts, deadlines and cancellation, of async and of blocking bodies.

use std::future::Future;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::task::{Context as Task, Waker};
use std::time::Duration;

use contract_runtime::Status;
use contract_runtime::prelude::*;
use tokio::sync::Notify;

use crate::common::{Count, Log, ended};

/// Sleep.
#[tool(timeout = "30s")]
async fn sleep(milliseconds: u64, #[context] log: &Log) -> u64 {
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    log.add("woke");
    milliseconds
}

/// Sleep without a limit of one's own.
#[tool]
async fn sleep_freely(milliseconds: u64) -> u64 {
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    milliseconds
}

/// Say how much time there is.
#[tool]
async fn time_left(#[context] deadline: Deadline) -> Option<u64> {
    deadline
        .remaining()
        .map(|left| (left + Duration::from_millis(500)).as_secs())
}

fn registry(log: &Log) -> Registry {
    Registry::builder()
        .tool(sleep)
        .tool(sleep_freely)
        .tool(time_left)
        .context(log.clone())
        .build()
        .unwrap()
}

fn call(name: &str, milliseconds: u64) -> ToolCall {
    ToolCall::new("", name, format!(r#"{{"milliseconds":{milliseconds}}}"#))
}

#[tokio::test(start_paused = true)]
async fn an_async_body_is_dropped_when_its_time_is_over() {
    let log = Log::default();
    let registry = registry(&log);
    let outcome = registry.call(call("sleep", 31_000)).await;
    assert_eq!(outcome.status(), Status::TimedOut);
    assert!(!outcome.may_still_be_running());
    let error = outcome.error().unwrap();
    assert!(
        error.contains("30 s") && !error.contains("may still"),
        "{error}"
    );
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(log.take().is_empty(), "the body went on");
}

#[tokio::test(start_paused = true)]
async fn an_async_body_that_ends_in_time_is_not_disturbed() {
    let outcome = registry(&Log::default()).call(call("sleep", 29_000)).await;
    assert_eq!(outcome.output(), Some("29000"));
}

#[tokio::test(start_paused = true)]
async fn a_timeout_is_measured_on_the_clock_of_the_runtime() {
    let registry = registry(&Log::default());
    for _ in 0..4 {
        let outcome = registry.call(call("sleep", 20_000)).await;
        assert_eq!(outcome.output(), Some("20000"), "{:?}", outcome.error());
    }
    let context = Context::new().timeout(Duration::from_secs(5));
    let outcome = registry
        .call(call("sleep_freely", 4_000))
        .context(context)
        .await;
    assert_eq!(outcome.output(), Some("4000"), "{:?}", outcome.error());
    let context = Context::new().timeout(Duration::from_secs(5));
    let call = ToolCall::new("", "time_left", "");
    let outcome = registry.call(call).context(context).await;
    assert_eq!(outcome.output(), Some("5"));
}

#[tokio::test(start_paused = true)]
async fn the_shorter_of_tool_and_context_holds() {
    let registry = registry(&Log::default());
    for (name, seconds, status) in [
        ("sleep", 5, Status::TimedOut),
        ("sleep_freely", 5, Status::TimedOut),
        ("sleep_freely", 50, Status::Ok),
    ] {
        let runtime = Context::new().timeout(Duration::from_secs(seconds));
        let started = tokio::time::Instant::now();
        let outcome = registry.call(call(name, 20_000)).context(runtime).await;
        assert_eq!(outcome.status(), status, "{name} {seconds}");
        assert!(started.elapsed() < Duration::from_secs(21));
        if status == Status::TimedOut {
            assert!(outcome.error().unwrap().contains("within"));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_registry_has_a_timeout_for_tools_without_one() {
    let registry = Registry::builder()
        .tool(sleep_freely)
        .timeout(Duration::from_secs(2))
        .build()
        .unwrap();
    let outcome = registry.call(call("sleep_freely", 3_000)).await;
    assert_eq!(outcome.status(), Status::TimedOut);
    assert!(outcome.error().unwrap().contains("2 s"));
    assert_eq!(
        registry.tool("sleep_freely").unwrap().timeout(),
        Some(Duration::from_secs(2))
    );
}

#[tokio::test]
async fn a_deadline_can_be_asked_for() {
    let registry = registry(&Log::default());
    let call = || ToolCall::new("", "time_left", "");
    let outcome = registry.call(call()).await;
    assert_eq!(outcome.output(), Some("null"));
    let context = Context::new().timeout(Duration::from_secs(100));
    let outcome = registry.call(call()).context(context).await;
    assert_eq!(outcome.output(), Some("100"));
}

#[tokio::test]
async fn a_cancelled_token_ends_the_call_and_a_dropped_call_runs_no_further() {
    let log = Log::default();
    let registry = registry(&log);
    let token = CancellationToken::new();
    let context = Context::new().cancellation(token.clone());
    let waiting = registry.call(call("sleep", 60_000)).context(context);
    let (outcome, ()) = tokio::join!(waiting, async { token.cancel() });
    assert_eq!(outcome.status(), Status::Cancelled);
    assert!(!outcome.may_still_be_running());
    let mut begun = Box::pin(registry.call(call("sleep", 5)));
    assert!(
        begun
            .as_mut()
            .poll(&mut Task::from_waker(Waker::noop()))
            .is_pending()
    );
    drop(begun);
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert!(log.take().is_empty());
}

#[tokio::test]
async fn a_call_that_is_cancelled_before_it_begins_runs_no_body() {
    /// Note that it ran.
    #[tool]
    async fn noted(#[context] log: &Log) {
        log.add("async");
    }
    /// Note that it ran, at once.
    #[tool]
    fn noted_at_once(#[context] log: &Log) {
        log.add("sync");
    }
    /// Note that it ran, on a thread.
    #[tool(blocking)]
    fn noted_on_a_thread(#[context] log: &Log) {
        log.add("blocking");
    }
    let log = Log::default();
    let registry = Registry::builder()
        .tool(noted)
        .tool(noted_at_once)
        .tool(noted_on_a_thread)
        .context(log.clone())
        .build()
        .unwrap();
    let token = CancellationToken::new();
    token.cancel();
    let mut statuses = Vec::new();
    for name in ["noted", "noted_at_once", "noted_on_a_thread"] {
        let context = Context::new().cancellation(token.clone());
        let outcome = registry
            .call(ToolCall::new("", name, ""))
            .context(context)
            .await;
        statuses.push(outcome.status());
        let said = outcome.error().unwrap();
        assert_eq!(said, "not started, because the call was cancelled");
    }
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(statuses, [Status::Cancelled; 3]);
    assert_eq!(log.take(), [""; 0]);
}

/// Pay, and wait for the receipt.
#[tool]
async fn pay(#[context] log: &Log) {
    log.add("paid");
    std::future::pending::<()>().await;
}

/// Pay while the caller gives up.
#[tool]
async fn pay_and_stop(#[context] log: &Log, #[context] caller: &Caller) {
    log.add("paid");
    caller.0.cancel();
    std::future::pending::<()>().await;
}

struct Caller(CancellationToken);

#[tokio::test(start_paused = true)]
async fn a_call_that_was_cut_off_says_that_nobody_knows_whether_it_took_effect() {
    let log = Log::default();
    let registry = Registry::builder()
        .tool(pay)
        .context(log.clone())
        .build()
        .unwrap();
    let in_time = Context::new().timeout(Duration::from_millis(13));
    let outcome = registry
        .call(ToolCall::new("1", "pay", ""))
        .context(in_time)
        .await;
    assert_eq!(outcome.status(), Status::TimedOut);
    assert_eq!(
        outcome.error().unwrap(),
        "`pay` did not end within 13 ms; it may have taken effect, so check before you repeat it"
    );
    log.take();
    let token = CancellationToken::new();
    let stopping = Registry::builder()
        .tool(pay_and_stop)
        .context(log.clone())
        .context(Caller(token.clone()))
        .build()
        .unwrap();
    let calls = ["1", "2"].map(|id| ToolCall::new(id, "pay_and_stop", ""));
    let context = Context::new().cancellation(token);
    let outcomes = stopping.call_all(calls).context(context).await;
    assert_eq!(log.take(), ["paid"]);
    assert!(
        outcomes
            .iter()
            .all(|outcome| outcome.status() == Status::Cancelled)
    );
    let said: Vec<_> = outcomes.iter().filter_map(Outcome::error).collect();
    assert_eq!(
        said,
        [
            "the call was cancelled; it may have taken effect, so check before you repeat it",
            "not started, because the call was cancelled",
        ]
    );
}

type Gate = Mutex<mpsc::Receiver<()>>;

/// Wait on a thread.
#[tool(blocking, timeout = "20ms")]
fn block(#[context] gate: &Gate, #[context] log: &Log, #[context] token: CancellationToken) {
    if let Ok(gate) = gate.lock() {
        let _ = gate.recv();
    }
    log.add(format!("told: {}", token.is_cancelled()));
}

fn blocking(log: &Log) -> (mpsc::Sender<()>, Registry) {
    let (go, gate) = mpsc::channel();
    let registry = Registry::builder()
        .tool(block)
        .context::<Gate>(Mutex::new(gate))
        .context(log.clone())
        .build()
        .unwrap();
    (go, registry)
}

async fn until_logged(log: &Log) -> Vec<String> {
    loop {
        let events = log.take();
        if !events.is_empty() {
            return events;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn a_blocking_body_that_is_given_up_may_still_be_running_and_is_told() {
    let log = Log::default();
    let (go, registry) = blocking(&log);
    let outcome = registry.call(ToolCall::new("", "block", "")).await;
    assert_eq!(outcome.status(), Status::TimedOut);
    assert!(outcome.may_still_be_running());
    assert!(outcome.error().unwrap().contains("it may still be running"));
    assert!(log.take().is_empty());
    go.send(()).unwrap();
    assert_eq!(until_logged(&log).await, ["told: true"]);

    let (let_go, receiver) = mpsc::channel();
    let began = Count::default();
    let held = Held {
        began: began.clone(),
        log: log.clone(),
        let_go: Mutex::new(receiver),
    };
    let blocking = registry;
    let registry = Registry::builder()
        .tool(hold)
        .context(held)
        .build()
        .unwrap();
    let token = CancellationToken::new();
    let context = Context::new().cancellation(token.clone());
    let waiting = registry
        .call(ToolCall::new("", "hold", ""))
        .context(context);
    let cancelling = async {
        while began.get() == 0 {
            tokio::task::yield_now().await;
        }
        token.cancel();
    };
    let (outcome, ()) = tokio::join!(waiting, cancelling);
    assert_eq!(outcome.status(), Status::Cancelled);
    assert!(outcome.may_still_be_running());
    let_go.send(()).unwrap();
    assert_eq!(until_logged(&log).await, ["told: true"]);

    let mut dropped = Box::pin(registry.call(ToolCall::new("", "hold", "")));
    let mut task = Task::from_waker(Waker::noop());
    assert!(dropped.as_mut().poll(&mut task).is_pending());
    while began.get() == 1 {
        tokio::task::yield_now().await;
    }
    drop(dropped);
    let_go.send(()).unwrap();
    assert_eq!(until_logged(&log).await, ["told: true"]);
    assert_eq!(registry.statistics().calls(), 2);

    go.send(()).unwrap();
    let outcome = blocking.call(ToolCall::new("", "block", "")).await;
    assert!(outcome.is_ok() && !outcome.may_still_be_running());
    assert_eq!(log.take(), ["told: false"]);
    assert_eq!(blocking.statistics().calls(), 2);
}

#[test]
fn a_blocking_body_that_is_given_up_does_not_hold_a_plain_thread() {
    let log = Log::default();
    let (go, registry) = blocking(&log);
    let (status, error) = ended(&registry, "block", "");
    assert_eq!(status, Status::TimedOut, "{error}");
    go.send(()).unwrap();
}

/// Wait for a sign.
#[tool]
async fn wait(#[context] go: &Notify) -> &'static str {
    go.notified().await;
    "went"
}

/// Wait for a sign, not for long.
#[tool(timeout = "20ms")]
async fn wait_shortly(#[context] go: &Notify) -> &'static str {
    go.notified().await;
    "went"
}

#[test]
fn a_call_polled_by_hand_on_no_runtime_works_where_no_timer_is_needed() {
    let go = Arc::new(Notify::new());
    let registry = Registry::builder()
        .tool(wait)
        .tool(wait_shortly)
        .context_arc(Arc::clone(&go))
        .build()
        .unwrap();
    let mut task = Task::from_waker(Waker::noop());
    let mut call = Box::pin(registry.call(ToolCall::new("", "wait", "")));
    assert!(call.as_mut().poll(&mut task).is_pending());
    assert!(call.as_mut().poll(&mut task).is_pending());
    go.notify_waiters();
    match call.as_mut().poll(&mut task) {
        std::task::Poll::Ready(outcome) => assert_eq!(outcome.output(), Some("went")),
        std::task::Poll::Pending => panic!("the call did not see the sign"),
    }
    let mut call = Box::pin(registry.call(ToolCall::new("", "wait_shortly", "")));
    match call.as_mut().poll(&mut task) {
        std::task::Poll::Ready(outcome) => {
            assert_eq!(outcome.status(), Status::Failed);
            assert!(outcome.error().unwrap().contains("runtime"));
        }
        std::task::Poll::Pending => panic!("the call waits for a timer that is not there"),
    }
}

#[test]
fn a_runtime_without_timers_is_an_ordinary_failure() {
    let registry = Registry::builder()
        .tool(wait_shortly)
        .context(Notify::new())
        .build()
        .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let outcome = runtime.block_on(registry.call(ToolCall::new("", "wait_shortly", "")));
    assert_eq!(outcome.status(), Status::Failed);
}

#[test]
fn call_blocking_waits_outside_a_runtime_and_refuses_inside_one() {
    let log = Log::default();
    let registry = registry(&log);
    let outcome = registry.call(call("sleep", 5)).blocking();
    assert_eq!(outcome.output(), Some("5"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let outcome = runtime.block_on(async { registry.call(call("sleep", 5)).blocking() });
    assert_eq!(outcome.status(), Status::Failed);
    assert!(outcome.error().unwrap().contains("await"), "{outcome:?}");
    assert_eq!(outcome.tool(), "sleep");
    assert_eq!(registry.statistics().calls(), 2);
}

/// Double a number.
#[tool]
fn double(number: u32) -> u32 {
    number * 2
}

/// Double a number twice.
#[tool]
fn twice(number: u32, #[context] inner: &Registry) -> Result<String, String> {
    let double = |number: &str| {
        let call = ToolCall::new("1", "double", format!(r#"{{"number":{number}}}"#));
        let outcome = inner.call(call).blocking();
        outcome
            .output()
            .map(str::to_owned)
            .ok_or(format!("{outcome:?}"))
    };
    double(&double(&number.to_string())?)
}

/// Double a number, if somebody agrees.
#[tool(confirm = "Double {number}?")]
fn double_asked(number: u32) -> u32 {
    number * 2
}

fn of_number(tool: &str) -> ToolCall {
    ToolCall::new("", tool, r#"{"number":3}"#)
}

#[tokio::test]
async fn a_sync_tool_is_called_blocking_inside_a_runtime_too() {
    let inner = Registry::builder()
        .tool(double)
        .tool(double_asked)
        .build()
        .unwrap();
    let asked = inner.clone();
    let outer = Registry::builder().tool(twice).context(inner.clone());
    let outer = outer.build().unwrap();
    assert_eq!(outer.call(of_number("twice")).await.output(), Some("12"));
    let outside = tokio::task::spawn_blocking(move || inner.call(of_number("double")).blocking());
    assert_eq!(outside.await.unwrap().output(), Some("6"));

    assert_eq!(
        asked.call(of_number("double_asked")).blocking().status(),
        Status::Asked
    );
    let never =
        Context::new().approver(|_| std::future::pending::<contract_runtime::approval::Decision>());
    let outcome = asked
        .call(of_number("double_asked"))
        .context(never)
        .blocking();
    assert_eq!(outcome.status(), Status::Cancelled, "{outcome:?}");
    assert_eq!(asked.statistics().ended(Status::Cancelled), 1);
}

/// Hold a thread until it is let go.
#[tool(blocking)]
fn hold(#[context] held: &Held, #[context] token: &CancellationToken) {
    held.began.up();
    let _ = held.let_go.lock().unwrap().recv();
    held.log.add(format!("told: {}", token.is_cancelled()));
}

/// Come too late.
#[tool(blocking, timeout = "20ms")]
fn late(#[context] ran: &Count) {
    ran.up();
}

struct Held {
    began: Count,
    log: Log,
    let_go: Mutex<mpsc::Receiver<()>>,
}

#[test]
fn a_blocking_body_never_begins_after_its_call_has_ended() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(1)
        .build()
        .unwrap();
    let (let_go, receiver) = mpsc::channel();
    let (began, ran) = (Count::default(), Count::default());
    let registry = Registry::builder()
        .tool(hold)
        .tool(late)
        .context(Held {
            began: began.clone(),
            log: Log::default(),
            let_go: Mutex::new(receiver),
        })
        .context(ran.clone())
        .build()
        .unwrap();
    runtime.block_on(async {
        let holding = registry.clone();
        let call = ToolCall::new("1", "hold", "");
        let holding = tokio::spawn(async move { holding.call(call).await });
        while began.get() == 0 {
            tokio::task::yield_now().await;
        }
        let outcome = registry.call(ToolCall::new("2", "late", "")).await;
        assert_eq!(outcome.status(), Status::TimedOut);
        assert!(!outcome.may_still_be_running());
        let_go.send(()).unwrap();
        assert!(holding.await.unwrap().is_ok());
        // The one thread is free again, and has met the late body by the time it answers this.
        tokio::task::spawn_blocking(|| ()).await.unwrap();
    });
    assert_eq!(ran.get(), 0);
}

#[tokio::test]
async fn a_call_whose_time_is_over_is_not_started_and_says_so() {
    let registry = Registry::builder()
        .tool(late)
        .context(Count::default())
        .build()
        .unwrap();
    let over = Context::new().timeout(Duration::ZERO);
    let outcome = registry
        .call(ToolCall::new("1", "late", ""))
        .context(over)
        .await;
    assert_eq!(outcome.status(), Status::TimedOut);
    assert_eq!(
        outcome.error().unwrap(),
        "`late` was not started, because its time was over"
    );
}
