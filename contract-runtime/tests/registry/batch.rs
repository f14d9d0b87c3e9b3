//! Several calls of one turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;

use contract_runtime::prelude::*;
use contract_runtime::{Effect, Status};
use proptest::prelude::*;
use tokio::sync::Barrier;

use crate::common::Log;

/// How many bodies run, and the most there ever were.
#[derive(Default)]
struct Running {
    now: AtomicUsize,
    most: AtomicUsize,
    writers: AtomicUsize,
    overlaps: AtomicUsize,
}

impl Running {
    fn enter(&self, writes: bool) -> Inside<'_> {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        let writing = self
            .writers
            .fetch_add(usize::from(writes), Ordering::SeqCst);
        if writing > 0 || (writes && now > 1) {
            self.overlaps.fetch_add(1, Ordering::SeqCst);
        }
        Inside(self, writes)
    }
}

struct Inside<'r>(&'r Running, bool);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::SeqCst);
        self.0
            .writers
            .fetch_sub(usize::from(self.1), Ordering::SeqCst);
    }
}

/// Read for a while.
#[tool(read_only)]
async fn read(
    #[context] running: &Running,
    #[context] cell: &AtomicI64,
    #[arg(default = 5)] milliseconds: u64,
) -> i64 {
    let _inside = running.enter(false);
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    cell.load(Ordering::SeqCst)
}

/// Add slowly, by a read and a write.
#[tool]
async fn add(by: i64, #[context] running: &Running, #[context] cell: &AtomicI64) -> i64 {
    let _inside = running.enter(true);
    let before = cell.load(Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(3)).await;
    cell.store(before + by, Ordering::SeqCst);
    before + by
}

/// End in some way.
#[tool(read_only, timeout = "40ms")]
#[pre(how != "violation")]
async fn end(how: &str, #[context] log: &Log) -> Result<String, String> {
    log.add(how);
    match how {
        "fail" => return Err("as asked".to_owned()),
        "panic" => panic!("as asked"),
        "hang" => std::future::pending().await,
        "wait" => tokio::time::sleep(Duration::from_millis(10)).await,
        _ => tokio::task::yield_now().await,
    }
    Ok(how.to_owned())
}

/// End in some way, alone.
#[tool]
#[pre(how != "violation")]
async fn end_alone(how: &str, #[context] log: &Log) -> Result<String, String> {
    end(how, log).await
}

fn builder() -> contract_runtime::Builder {
    Registry::builder()
        .tool(read)
        .tool(add)
        .tool(end)
        .tool(end_alone)
        .context(Log::default())
        .context(Running::default())
        .context(AtomicI64::new(0))
}

fn with(log: &Log, running: &Arc<Running>) -> Registry {
    builder()
        .context(log.clone())
        .context_arc(Arc::clone(running))
        .build()
        .unwrap()
}

fn call(name: &str, arguments: &str) -> ToolCall {
    ToolCall::new("the same id", name, arguments)
}

fn how(name: &str, how: &str) -> ToolCall {
    call(name, &format!(r#"{{"how":"{how}"}}"#))
}

fn statuses(outcomes: &[Outcome]) -> Vec<Status> {
    outcomes.iter().map(Outcome::status).collect()
}

#[tokio::test(start_paused = true)]
async fn a_read_after_a_write_sees_it_and_results_keep_the_order_of_the_calls() {
    let registry = builder().build().unwrap();
    let outcomes = registry
        .call_all([
            call("read", r#"{"milliseconds":20}"#),
            call("add", r#"{"by":1}"#),
            call("read", "{}"),
            call("read", r#"{"milliseconds":1}"#),
            call("add", r#"{"by":10}"#),
            call("add", r#"{"by":100}"#),
            call("read", "{}"),
        ])
        .await;
    let outputs: Vec<_> = outcomes.iter().filter_map(Outcome::output).collect();
    assert_eq!(outputs, ["0", "1", "1", "1", "11", "111", "111"]);
    assert!(outcomes.iter().all(|outcome| outcome.id() == "the same id"));
}

#[tokio::test(start_paused = true)]
async fn nine_reads_overlap_up_to_four() {
    let running = Arc::new(Running::default());
    let registry = with(&Log::default(), &running);
    let started = tokio::time::Instant::now();
    let outcomes = registry
        .call_all((0..9).map(|_| call("read", r#"{"milliseconds":10}"#)))
        .await;
    assert_eq!(outcomes.len(), 9);
    assert!(outcomes.iter().all(Outcome::is_ok));
    assert_eq!(running.most.load(Ordering::SeqCst), 4);
    // Three rounds of ten milliseconds, not nine.
    assert!(started.elapsed() < Duration::from_millis(50));
}

#[tokio::test(start_paused = true)]
async fn the_builder_sets_how_many_reads_overlap() {
    for (parallel, most) in [(0, 1), (1, 1), (2, 2), (100, 9)] {
        let running = Arc::new(Running::default());
        let registry = builder()
            .context_arc(Arc::clone(&running))
            .parallel(parallel)
            .build()
            .unwrap();
        let calls = (0..9).map(|_| call("read", "{}"));
        assert_eq!(registry.call_all(calls).await.len(), 9);
        assert_eq!(running.most.load(Ordering::SeqCst), most);
    }
}

#[tokio::test]
async fn one_that_fails_panics_or_hangs_does_not_touch_the_others() {
    for name in ["end", "end_alone"] {
        let registry = builder()
            .timeout(Duration::from_millis(40))
            .build()
            .unwrap();
        let hows = ["fine", "fail", "panic", "hang", "wait", "fine"];
        let mut calls: Vec<_> = hows.iter().map(|one| how(name, one)).collect();
        calls.push(call("nobody", "{}"));
        calls.push(call(name, "{}"));
        calls.push(how(name, "fine"));
        let outcomes = registry.call_all(calls).await;
        assert_eq!(
            statuses(&outcomes),
            [
                Status::Ok,
                Status::Failed,
                Status::Panicked,
                Status::TimedOut,
                Status::Ok,
                Status::Ok,
                Status::UnknownTool,
                Status::InvalidArguments,
                Status::Ok,
            ]
        );
        assert_eq!(registry.statistics().calls(), 9);
    }
}

#[tokio::test]
async fn after_a_violation_nothing_further_is_started() {
    let log = Log::default();
    let registry = with(&log, &Arc::default());
    let outcomes = registry
        .call_all(["fine", "violation", "fine", "fine"].map(|one| how("end_alone", one)))
        .await;
    let stopped = [
        Status::Ok,
        Status::Violation,
        Status::Cancelled,
        Status::Cancelled,
    ];
    assert_eq!(statuses(&outcomes), stopped);
    assert!(outcomes[2].error().unwrap().contains("not started"));
    // The body of `end_alone` calls `end`.
    assert_eq!(log.take(), ["fine"]);
    // Of reads side by side, those that run go on.
    let mut reads: Vec<_> = ["wait", "violation", "wait", "wait"]
        .map(|one| how("end", one))
        .into();
    reads.extend(["fine"; 5].map(|one| how("end", one)));
    reads.push(how("end_alone", "fine"));
    let outcomes = registry.call_all(reads).await;
    assert_eq!(outcomes[0].status(), Status::Ok);
    assert_eq!(outcomes[1].status(), Status::Violation);
    assert!(
        statuses(&outcomes[4..])
            .iter()
            .all(|status| *status == Status::Cancelled)
    );
    assert!(log.take().iter().all(|event| event == "wait"));
    // The next batch begins anew.
    assert!(registry.call_all([how("end", "fine")]).await[0].is_ok());
    let statistics = registry.statistics();
    assert_eq!(statistics.calls(), 4 + 10 + 1);
}

#[tokio::test]
async fn an_observed_violation_stops_nothing() {
    let registry = builder().policy(Policy::Observe).build().unwrap();
    let outcomes = registry
        .call_all(["violation", "fine"].map(|one| how("end_alone", one)))
        .await;
    assert!(outcomes.iter().all(Outcome::is_ok));
}

#[tokio::test(start_paused = true)]
async fn dropping_a_batch_stops_it() {
    let log = Log::default();
    let running = Arc::new(Running::default());
    let registry = with(&log, &running);
    let calls = ["wait", "wait", "fine"].map(|one| how("end_alone", one));
    let batch = registry.call_all(calls);
    assert!(
        tokio::time::timeout(Duration::from_millis(5), batch)
            .await
            .is_err()
    );
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(log.take(), ["wait"]);
    let reads = registry.call_all((0..9).map(|_| call("read", r#"{"milliseconds":50}"#)));
    assert!(
        tokio::time::timeout(Duration::from_millis(5), reads)
            .await
            .is_err()
    );
    assert_eq!(running.now.load(Ordering::SeqCst), 0);
    // The gate is free again.
    let outcomes = registry.call_all([call("add", r#"{"by":1}"#)]).await;
    assert!(outcomes[0].is_ok());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn batches_of_one_registry_respect_each_other() {
    let running = Arc::new(Running::default());
    let registry = with(&Log::default(), &running);
    let batches: Vec<_> = (0..6)
        .map(|_| {
            let registry = registry.clone();
            tokio::spawn(async move {
                let turn = [
                    call("add", r#"{"by":1}"#),
                    call("read", r#"{"milliseconds":1}"#),
                    call("read", r#"{"milliseconds":1}"#),
                    call("add", r#"{"by":1}"#),
                ];
                registry.call_all(turn).await
            })
        })
        .collect();
    for batch in batches {
        assert!(batch.await.unwrap().iter().all(Outcome::is_ok));
    }
    assert_eq!(running.overlaps.load(Ordering::SeqCst), 0);
    let last = registry.call_all([call("read", "{}")]).await;
    assert_eq!(last[0].output(), Some("12"));
}

/// Meet somebody.
#[tool(read_only, timeout = "90ms")]
async fn meet(#[context] barrier: &Barrier) -> bool {
    barrier.wait().await;
    true
}

#[tokio::test]
async fn reads_of_two_batches_overlap() {
    let registry = Registry::builder()
        .tool(meet)
        .context(Barrier::new(2))
        .build()
        .unwrap();
    let (one, other) = tokio::join!(
        registry.call_all([call("meet", "")]),
        registry.call_all([call("meet", "")])
    );
    assert!(one[0].is_ok() && other[0].is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_turn_is_as_if_its_calls_had_come_one_after_another(
        turn in prop::collection::vec(prop::option::of(-9..9_i64), 0..14), parallel in 1..6_usize,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let registry = builder().parallel(parallel).build().unwrap();
        let calls = turn.iter().enumerate().map(|(place, step)| match step {
            None => call("read", &format!(r#"{{"milliseconds":{}}}"#, 20 - place)),
            Some(by) => call("add", &format!(r#"{{"by":{by}}}"#)),
        });
        let outcomes = runtime.block_on(registry.call_all(calls));
        let mut sum = 0;
        prop_assert_eq!(outcomes.len(), turn.len());
        for (step, outcome) in turn.iter().zip(&outcomes) {
            sum += step.unwrap_or(0);
            let expected = sum.to_string();
            prop_assert_eq!(outcome.output(), Some(expected.as_str()));
        }
    }
}

/// Say under which key it is called.
#[tool]
fn key(#[context] key: Option<&IdempotencyKey>, #[context] user: &&'static str) -> String {
    format!("{user} {key:?}")
}

#[tokio::test]
async fn the_calls_of_a_batch_do_not_share_a_key() {
    let registry = Registry::builder()
        .tool(key)
        .context_per_call::<&'static str>();
    let registry = registry.build().unwrap();
    let under = |key| Context::new().idempotency_key(IdempotencyKey::new(key));
    let call = || ToolCall::new("1", "key", "");
    let calls = [(call(), under("one")), (call(), Context::new())];
    let outcomes = registry
        .call_all(calls)
        .context(under("all").with("ada"))
        .await;
    let outputs: Vec<_> = outcomes.iter().filter_map(Outcome::output).collect();
    assert_eq!(outputs, [r#"ada Some(IdempotencyKey("one"))"#, "ada None"]);

    let alone = registry.call((call(), under("one").with("ben"))).await;
    assert_eq!(alone.output(), Some(r#"ben Some(IdempotencyKey("one"))"#));
}

/// Say under which key it is called.
#[tool]
fn needs_key(#[context] key: IdempotencyKey) -> String {
    key.to_string()
}

#[tokio::test]
async fn a_tool_that_needs_a_key_does_not_run_without_one() {
    let registry = Registry::builder().tool(needs_key).tool(key);
    let registry = registry.context("ada").build().unwrap();
    let outcome = registry.call(("1", "needs_key", "")).await;
    let ended = (outcome.status(), outcome.effect());
    assert_eq!(ended, (Status::Failed, Effect::None), "{outcome:?}");
    let repeatable = |name| registry.tool(name).unwrap().repeatable();
    assert_eq!(
        (repeatable("needs_key"), repeatable("key")),
        (Some(""), None)
    );
}
