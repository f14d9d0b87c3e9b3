//! Calls inside calls: those without end come to one.

use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use contract_runtime::prelude::*;
use contract_runtime::{ContractScope, Status};

use crate::common::{Count, call};

/// The limit of a registry that sets none.
const LIMIT: usize = 16;

/// How deep a tool calls itself, and through what: it is shared with the tools by the name of the test.
struct Way {
    registry: OnceLock<Registry>,
    bodies: AtomicUsize,
}

impl Way {
    const fn new() -> Self {
        Self {
            registry: OnceLock::new(),
            bodies: AtomicUsize::new(0),
        }
    }

    /// Enters a body, whose calls go to this registry.
    fn body(&self) -> &Registry {
        self.bodies.fetch_add(1, Ordering::SeqCst);
        self.registry.get().unwrap()
    }

    fn registry(&self, builder: contract_runtime::Builder) -> &Registry {
        self.registry.get_or_init(|| builder.build().unwrap())
    }

    fn bodies(&self) -> usize {
        self.bodies.swap(0, Ordering::SeqCst)
    }
}

/// What the innermost call was told goes out unchanged.
fn told(outcome: &Outcome) -> String {
    assert_ne!(outcome.status(), Status::Violation, "{outcome:?}");
    let text = outcome.output().or_else(|| outcome.error());
    text.unwrap_or_default().to_owned()
}

fn refusal(name: &str) -> String {
    format!(
        "`{name}` was not started, because {LIMIT} calls are nested around it and the limit is {LIMIT}; tools that call each other must come to an end"
    )
}

static HERE: Way = Way::new();

/// Call itself on the same thread.
#[tool]
fn here() -> String {
    told(&HERE.body().call(ToolCall::new("", "here", "")).blocking())
}

static ROOMY: Way = Way::new();

/// Call itself with 64 kB on the stack, such as for a buffer.
#[tool]
#[allow(clippy::large_stack_arrays, reason = "the stack is what is tested")]
fn roomy() -> String {
    let room = [0_u8; 64 << 10];
    let outcome = ROOMY.body().call(ToolCall::new("", "roomy", "")).blocking();
    std::hint::black_box(&room);
    told(&outcome)
}

#[test]
fn the_deepest_fits_the_stack_of_a_thread() {
    let registry = ROOMY.registry(Registry::builder().tool(roomy));
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    let outcome = thread.spawn(|| call(registry, "roomy", "")).unwrap().join();
    assert_eq!(outcome.unwrap().output(), Some(refusal("roomy").as_str()));
    assert_eq!(ROOMY.bodies(), LIMIT);
}

static BLOCKING: Way = Way::new();

/// Call itself on a thread of its own.
#[tool(blocking)]
fn on_threads() -> String {
    told(
        &BLOCKING
            .body()
            .call(ToolCall::new("", "on_threads", ""))
            .blocking(),
    )
}

static LATER: Way = Way::new();

/// Call itself and wait.
#[tool(timeout = "1m")]
async fn later() -> String {
    told(&LATER.body().call(ToolCall::new("", "later", "")).await)
}

static BATCH: Way = Way::new();

/// Call itself in a batch.
#[tool(read_only)]
async fn in_a_batch() -> String {
    let calls = [ToolCall::new("", "in_a_batch", "")];
    told(&BATCH.body().call_all(calls).await[0])
}

static TASKS: Way = Way::new();

/// In a box, because it comes back to itself.
fn in_a_task() -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
    let registry = TASKS.body();
    let call = registry.call(ToolCall::new("", "in_tasks", ""));
    Box::pin(ContractScope::current().wrap(call))
}

/// Call itself in a task that has the scope.
#[tool]
async fn in_tasks() -> String {
    told(&tokio::spawn(in_a_task()).await.unwrap())
}

static BEFORE: Way = Way::new();

/// Is itself what must hold before it.
#[tool]
#[pre(holds("looked_at", first))]
fn looked_at(first: u8) {
    let _ = first;
}

/// Is right when a chicken is.
#[tool]
#[post(|()| holds("chicken", first))]
fn egg(first: u8) {
    let _ = first;
}

/// Is right when an egg is.
#[tool]
#[post(|()| holds("egg", first))]
fn chicken(first: u8) {
    let _ = first;
}

fn first(name: &str, first: u8) -> ToolCall {
    ToolCall::new("", name, format!(r#"{{"first":{first}}}"#))
}

fn holds(name: &str, value: u8) -> bool {
    BEFORE.body().call(first(name, value)).blocking().is_ok()
}

#[test]
fn a_tool_that_calls_itself_on_one_thread_comes_to_an_end() {
    let registry = HERE.registry(Registry::builder().tool(here));
    assert_eq!(told(&call(registry, "here", "")), refusal("here"));
    assert_eq!(HERE.bodies(), LIMIT);
    let ended = registry.statistics();
    assert_eq!(ended.ended(Status::Failed), 1);
    assert_eq!(ended.ended(Status::Ok), LIMIT as u64);
}

#[test]
fn a_tool_that_calls_itself_on_other_threads_comes_to_an_end() {
    let registry = BLOCKING.registry(Registry::builder().tool(on_threads));
    let outcome = call(registry, "on_threads", "");
    assert_eq!(told(&outcome), refusal("on_threads"));
    assert_eq!(BLOCKING.bodies(), LIMIT);
}

#[tokio::test]
async fn a_tool_that_awaits_itself_comes_to_an_end() {
    let registry = LATER.registry(Registry::builder().tool(later));
    let outcome = registry.call(ToolCall::new("", "later", "")).await;
    assert_eq!(told(&outcome), refusal("later"));
    assert_eq!(LATER.bodies(), LIMIT);
}

#[tokio::test]
async fn a_tool_that_calls_itself_in_a_batch_comes_to_an_end() {
    let registry = BATCH.registry(Registry::builder().tool(in_a_batch));
    let outcome = registry.call(ToolCall::new("", "in_a_batch", "")).await;
    assert_eq!(told(&outcome), refusal("in_a_batch"));
    assert_eq!(BATCH.bodies(), LIMIT);
}

#[tokio::test]
async fn a_tool_that_calls_itself_in_tasks_that_have_its_scope_comes_to_an_end() {
    let registry = TASKS.registry(Registry::builder().tool(in_tasks));
    let outcome = registry.call(ToolCall::new("", "in_tasks", "")).await;
    assert_eq!(told(&outcome), refusal("in_tasks"));
    assert_eq!(TASKS.bodies(), LIMIT);
}

#[test]
fn conditions_that_call_each_others_tools_by_name_come_to_an_end() {
    let builder = Registry::builder().tool(looked_at).tool(egg).tool(chicken);
    let registry = BEFORE.registry(builder);
    for name in ["looked_at", "egg", "chicken"] {
        let outcome = registry.call(first(name, 1)).blocking();
        assert_eq!(outcome.status(), Status::Violation, "{name}");
        assert_eq!(BEFORE.bodies(), LIMIT, "{name}");
    }
}

#[test]
fn what_is_asked_before_a_call_comes_to_an_end_too() {
    static ASKED: OnceLock<Registry> = OnceLock::new();
    let asked = Count::default();
    let count = asked.clone();
    let ask = move |_, _| {
        count.up();
        let outcome = call(ASKED.get().unwrap(), "here", "");
        std::future::ready(Err(outcome.error().unwrap_or_default().to_owned()))
    };
    let builder = Registry::builder().tool(here).before_call(ask);
    let registry = ASKED.get_or_init(|| builder.build().unwrap());
    let outcome = call(registry, "here", "");
    assert_eq!(outcome.status(), Status::Refused);
    assert_eq!(outcome.error(), Some(&*refusal("here")));
    assert_eq!(asked.get(), LIMIT);
}

/// Add up to a number, each call making the next.
#[tool]
async fn sum(to: u32, #[context] registries: &OnceLock<Registry>) -> Result<u32, String> {
    let Some(below) = to.checked_sub(1) else {
        return Ok(0);
    };
    let arguments = format!(r#"{{"to":{below}}}"#);
    let inner = registries.get().ok_or("no registry")?;
    let outcome = inner.call(ToolCall::new("", "sum", arguments)).await;
    let sum = outcome
        .output()
        .ok_or_else(|| outcome.error().unwrap_or_default().to_owned())?;
    sum.parse::<u32>()
        .map(|sum| sum + to)
        .map_err(|error| error.to_string())
}

#[test]
fn the_limit_is_that_of_the_registry_that_is_called() {
    for (limit, to, expected) in [
        (4, 3, Some("6")),
        (4, 4, None),
        (40, 39, Some("780")),
        (0, 0, Some("0")),
    ] {
        let own = std::sync::Arc::new(OnceLock::new());
        let builder = Registry::builder()
            .tool(sum)
            .context_arc(own.clone())
            .max_depth(limit);
        let registry = own.get_or_init(|| builder.build().unwrap());
        let outcome = call(registry, "sum", &format!(r#"{{"to":{to}}}"#));
        assert_eq!(
            outcome.output(),
            expected,
            "{limit}, {to}: {:?}",
            outcome.error()
        );
    }
}
