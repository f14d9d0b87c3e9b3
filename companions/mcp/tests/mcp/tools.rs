//! Tools of every shape, and the means to see what became of their bodies.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use contract_runtime::prelude::*;
use contract_runtime::{BuildError, Progress};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::{Notify, Semaphore};

/// Divide one number by another.
#[tool(read_only)]
#[pre(divisor != 0, "cannot divide by zero")]
pub(crate) fn divide(dividend: i64, divisor: i64) -> i64 {
    dividend.wrapping_div(divisor)
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Point {
    x: i32,
    y: Option<i32>,
}

/// A point.
#[tool(read_only)]
pub(crate) fn point() -> Point {
    Point { x: 1, y: None }
}

/// Perhaps a point.
#[tool(read_only)]
pub(crate) fn maybe(some: bool) -> Option<Point> {
    some.then_some(Point { x: 2, y: Some(3) })
}

/// Perhaps a word.
#[tool(read_only)]
pub(crate) fn word(some: bool) -> Option<String> {
    some.then(|| "null".to_owned())
}

/// Nothing.
#[tool(read_only)]
pub(crate) fn nothing() {}

/// Anything.
#[tool(read_only)]
pub(crate) fn anything() -> serde_json::Value {
    serde_json::json!([1, "two", null])
}

/// Numbers by name.
#[tool(read_only)]
pub(crate) fn names() -> BTreeMap<String, u8> {
    BTreeMap::from([("one".to_owned(), 1)])
}

/// Many numbers.
#[tool(read_only)]
pub(crate) fn many(count: u32) -> Vec<u32> {
    (0..count).collect()
}

/// A long text.
#[tool(read_only)]
pub(crate) fn long(letters: u32) -> String {
    "x".repeat(usize::try_from(letters).unwrap_or(0))
}

/// A number of 64 bits, as it was read.
#[tool(read_only)]
pub(crate) fn same(number: u64) -> String {
    number.to_string()
}

/// A picture, a file, a sound and a value.
#[tool(read_only)]
pub(crate) fn gallery() -> Content {
    Content::text("three things")
        .with(Artifact::image("image/png", [1, 2, 3]))
        .with(Artifact::file("a b/ü.csv", "text/csv", *b"1,2"))
        .with(Artifact::file("beep.wav", "audio/wav", [4]))
        .with(Artifact::value("sum", serde_json::json!({"of": 3})))
}

/// More than fits.
#[tool(read_only)]
pub(crate) fn hoard() -> Content {
    Content::text("too much").with(Artifact::file("big", "text/plain", vec![0; (8 << 20) + 1]))
}

/// Panic.
#[tool]
pub(crate) fn panics() -> u8 {
    panic!("a secret of the tool's")
}

/// Fail.
#[tool]
pub(crate) fn fails() -> Result<u8, String> {
    Err("the disk is full".to_owned())
}

/// Too late.
#[tool(timeout = "50ms")]
pub(crate) async fn late() -> u8 {
    std::future::pending().await
}

/// Observe.
#[tool]
#[pre(number > 0, policy = observe)]
pub(crate) fn observes(number: i32) -> i32 {
    number
}

/// What a test sees of bodies that wait.
#[derive(Clone, Default)]
pub(crate) struct Seen(pub(crate) Arc<Inside>);

pub(crate) struct Inside {
    pub(crate) begun: Semaphore,
    pub(crate) dropped: Semaphore,
    pub(crate) go: Notify,
    pub(crate) running: AtomicUsize,
    pub(crate) most: AtomicUsize,
}

impl Default for Inside {
    fn default() -> Self {
        Self {
            begun: Semaphore::new(0),
            dropped: Semaphore::new(0),
            go: Notify::new(),
            running: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
        }
    }
}

impl Seen {
    pub(crate) async fn begun(&self) {
        within(self.0.begun.acquire()).await.unwrap().forget();
    }

    pub(crate) async fn dropped(&self) {
        within(self.0.dropped.acquire()).await.unwrap().forget();
    }
}

struct Inhabited(Seen);

impl Drop for Inhabited {
    fn drop(&mut self) {
        self.0.0.running.fetch_sub(1, Ordering::SeqCst);
        self.0.0.dropped.add_permits(1);
    }
}

/// Wait until somebody lets it go.
#[tool]
pub(crate) async fn wait(#[context] seen: &Seen) -> &'static str {
    let running = seen.0.running.fetch_add(1, Ordering::SeqCst) + 1;
    seen.0.most.fetch_max(running, Ordering::SeqCst);
    let _inhabited = Inhabited(seen.clone());
    seen.0.begun.add_permits(1);
    seen.0.go.notified().await;
    "gone"
}

/// Block a thread until the call is given up.
#[tool(blocking)]
pub(crate) fn block(#[context] seen: &Seen, #[context] token: &CancellationToken) -> u8 {
    seen.0.begun.add_permits(1);
    while !token.is_cancelled() {
        std::thread::yield_now();
    }
    seen.0.dropped.add_permits(1);
    0
}

/// Report often.
#[tool]
pub(crate) fn report(#[context] progress: &Progress, times: u32) -> u32 {
    for step in 1..=times {
        progress.report(
            f64::from(step),
            Some(f64::from(times)),
            format!("step {step}"),
        );
    }
    times
}

/// Report what the protocol does not take.
#[tool]
pub(crate) fn report_badly(#[context] progress: &Progress) -> u8 {
    for done in [1.0, 1.0, 0.5, f64::NAN, f64::INFINITY, 2.0] {
        progress.report(done, Some(f64::NAN), "");
    }
    0
}

pub(crate) fn registry(seen: &Seen) -> Result<Registry, BuildError> {
    contract_runtime::registry!()
        .without(["who"])
        .context(seen.clone())
        .build()
}

/// Events are waited for; only a fault takes as long.
pub(crate) async fn within<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(std::time::Duration::from_secs(60), future)
        .await
        .expect("it did not happen within a minute")
}
