//! Registries: the tools that can be called, and the lifecycle of a call.

mod approval;
mod asks;
mod batch;
mod blocking;
mod body;
mod build_error;
mod builder;
mod call;
mod call_hook;
mod dispatch;
pub(crate) mod dry_run;
pub(crate) mod entry;
mod export;
mod findings;
mod history;
mod inner;
mod job;
pub mod methods;
mod outcome;
mod require_portable;
mod shards;
mod statistics;
mod tool_info;

use std::sync::Arc;

pub use build_error::{BuildError, BuildProblem};
pub use builder::Builder;
pub use builder::is_tool_name;
pub use export::{Export, ExportError};
pub use inner::Program;
pub use statistics::Statistics;
pub use tool_info::ToolInfo;

pub use call::Call;
use inner::Inner;
use job::Mode;

use crate::tool::{Context, Outcome, ToolCall, ToolCallRef};

/// A fixed set of tools that can be called by name.
///
/// It never raises: one call in, exactly one [`Outcome`] out. It is cheap to clone, and every clone is the same registry.
///
/// ```
/// use contract_runtime::prelude::*;
///
/// /// Add two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> Option<i64> {
///     a.checked_add(b)
/// }
///
/// let registry = Registry::builder().tool(add).build()?;
/// let outcome = registry.call_blocking(ToolCall::new("1", "add", r#"{"a":1,"b":2}"#));
/// assert_eq!(outcome.output(), Some("3"));
/// # Ok::<(), contract_runtime::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Registry {
    inner: Arc<Inner>,
}

impl Registry {
    /// Starts a builder without tools; [`registry!`](crate::registry) starts one with the tools of the calling package.
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// Calls a tool.
    ///
    /// Dropping the future cancels the call; a blocking body that has begun runs to its end.
    pub fn call(&self, call: ToolCall) -> Call<'_> {
        self.call_with(call, Context::default())
    }

    /// Calls a tool with a [`Context`], which carries values for `#[context]` parameters, a run, a timeout and more.
    pub fn call_with(&self, call: ToolCall, context: Context) -> Call<'_> {
        Call::new(&self.inner, call.into(), context, Mode::default())
    }

    /// Calls a tool from a thread that runs no async code.
    ///
    /// A sync tool is called at once, on any thread. An async or `blocking` tool has to be waited for: inside an async runtime
    /// its outcome is `failed`, because waiting here would stop that runtime's other tasks; the body of a `blocking` tool may
    /// wait.
    ///
    /// An async body runs in a runtime of this library, which goes on to serve other calls. Tasks that a body leaves behind end
    /// with its call. A connection or a timer that outlives its call needs a runtime of the program's own.
    pub fn call_blocking(&self, call: ToolCall) -> Outcome {
        self.call(call).blocking()
    }

    /// Calls a tool with a context, like [`call_blocking`](Self::call_blocking).
    pub fn call_blocking_with(&self, call: ToolCall, context: Context) -> Outcome {
        self.call_with(call, context).blocking()
    }

    /// Calls a tool from text to text: the result as the model gets it, or the outcome of a call that has none.
    ///
    /// The texts of the call stay with the caller, and nothing is made of them that the tool does not need, so this is the
    /// cheapest way to call. Artifacts and observed violations are left out; [`call`](Self::call) has them.
    ///
    /// # Errors
    ///
    /// The outcome of every call that did not end as [`ok`](crate::Status::Ok).
    ///
    /// ```
    /// use contract_runtime::prelude::*;
    ///
    /// /// Divide one number by another.
    /// #[tool]
    /// #[pre(divisor != 0, "cannot divide by zero")]
    /// async fn divide(dividend: i32, divisor: i32) -> Option<i32> {
    ///     dividend.checked_div(divisor)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
    /// let registry = Registry::builder().tool(divide).build()?;
    /// let divide = async |arguments| {
    ///     let call = ToolCallRef::new("1", "divide", arguments);
    ///     let answer = registry.call_text(call).await;
    ///     answer.unwrap_or_else(|outcome| outcome.error().unwrap_or_default().to_owned())
    /// };
    /// assert_eq!(divide(r#"{"dividend":6,"divisor":3}"#).await, "2");
    /// assert_eq!(divide(r#"{"dividend":6,"divisor":0}"#).await, "cannot divide by zero, got divisor = 0");
    /// # Ok(()) }
    /// ```
    pub fn call_text<'c>(
        &'c self,
        call: ToolCallRef<'c>,
    ) -> impl Future<Output = Result<String, Outcome>> + Send + use<'c> {
        Call::new(
            &self.inner,
            call.into(),
            Context::default(),
            Mode::default(),
        )
        .text()
    }

    /// Calls a tool from text to text like [`call_text`](Self::call_text), from a thread that runs no async code.
    ///
    /// # Errors
    ///
    /// The outcome of every call that did not end as [`ok`](crate::Status::Ok), as [`call_blocking`](Self::call_blocking) has it.
    pub fn call_text_blocking(&self, call: ToolCallRef<'_>) -> Result<String, Outcome> {
        Call::new(
            &self.inner,
            call.into(),
            Context::default(),
            Mode::default(),
        )
        .text()
        .blocking()
    }

    /// Calls a tool with arguments given as a JSON value, as tests do.
    ///
    /// ```
    /// use contract_runtime::prelude::*;
    /// use serde_json::json;
    ///
    /// /// Double a number.
    /// #[tool]
    /// async fn double(number: i32) -> i64 {
    ///     i64::from(number) * 2
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
    /// let registry = Registry::builder().tool(double).build()?;
    /// assert_eq!(registry.call_json("double", json!({"number": 21})).await.value(), Some(json!(42)));
    /// # Ok(()) }
    /// ```
    pub async fn call_json(&self, name: &str, arguments: serde_json::Value) -> Outcome {
        self.call(ToolCall::new("", name, arguments.to_string()))
            .await
    }

    /// Checks a call without running the body: looks up the tool, decodes the arguments and evaluates the preconditions.
    ///
    /// The outcome is `ok`, without output, when the body would run, and `asked` when a person would be asked first.
    ///
    /// ```
    /// use contract_runtime::Status;
    /// use contract_runtime::prelude::*;
    ///
    /// /// Remove everything.
    /// #[tool(destructive)]
    /// #[pre(sure, "say that you are sure")]
    /// fn remove_everything(sure: bool) {
    ///     let _ = sure;
    ///     unreachable!("a check never runs the body");
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
    /// let registry = Registry::builder().tool(remove_everything).build()?;
    /// let call = |arguments| ToolCall::new("1", "remove_everything", arguments);
    /// assert!(registry.check(call(r#"{"sure":true}"#)).await.is_ok());
    /// assert_eq!(registry.check(call(r#"{"sure":false}"#)).await.status(), Status::Violation);
    /// # Ok(()) }
    /// ```
    pub async fn check(&self, call: ToolCall) -> Outcome {
        self.check_with(call, Context::default()).await
    }

    /// Checks a call with a context, on which preconditions may depend, like [`check`](Self::check).
    ///
    /// ```
    /// use contract_runtime::Status;
    /// use contract_runtime::prelude::*;
    ///
    /// struct User {
    ///     may_write: bool,
    /// }
    ///
    /// /// Write a note.
    /// #[tool]
    /// #[pre(user.may_write, "this user may only read")]
    /// fn write_note(text: String, #[context] user: &User) {
    ///     let _ = (text, user);
    ///     unreachable!("a check never runs the body");
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
    /// let registry = Registry::builder().tool(write_note).context_per_call::<User>().build()?;
    /// let call = || ToolCall::new("1", "write_note", r#"{"text":"milk"}"#);
    /// let context = |may_write| Context::new().with(User { may_write });
    /// assert!(registry.check_with(call(), context(true)).await.is_ok());
    /// assert_eq!(registry.check_with(call(), context(false)).await.status(), Status::Violation);
    /// # Ok(()) }
    /// ```
    pub async fn check_with(&self, call: ToolCall, context: Context) -> Outcome {
        Call::check(&self.inner, call.into()).context(context).await
    }

    /// Checks a call like [`check_with`](Self::check_with), and evaluates every precondition, where that stops at the first
    /// one that ends the call.
    ///
    /// No policy counts: conditions that are ignored are evaluated too, and those that do not hold are in
    /// [`Outcome::observed`], also those about which a person would be asked. What a tool asks about every call is left out;
    /// [`check_with`](Self::check_with) tells of it.
    ///
    /// ```
    /// use contract_runtime::prelude::*;
    ///
    /// /// Book a table.
    /// #[tool]
    /// #[pre(guests > 0, "somebody must come")]
    /// #[pre(hour >= 18, "the kitchen opens at 18")]
    /// fn book(guests: u32, hour: u32) {}
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
    /// let registry = Registry::builder().tool(book).build()?;
    /// let call = ToolCall::new("1", "book", r#"{"guests":0,"hour":12}"#);
    /// let broken = registry.check_all(call, Context::new()).await;
    /// assert_eq!(broken.observed().len(), 2);
    /// # Ok(()) }
    /// ```
    pub async fn check_all(&self, call: ToolCall, context: Context) -> Outcome {
        Call::check(&self.inner, call.into())
            .context(context)
            .every_condition()
            .await
    }

    /// Calls several tools: read-only ones concurrently, the others one at a time, in the order of the list.
    ///
    /// Outcomes come back in the order of the calls. Batches of one registry respect each other through one
    /// readers-writer gate; a plain [`call`](Self::call) does not wait for it. After a violation nothing further is
    /// started, and after a call that is not read-only has ended as [`asked`](crate::Status::Asked), nothing but read-only ones; what
    /// was not started is `cancelled`. Dropping the future stops the batch.
    ///
    /// ```
    /// use contract_runtime::prelude::*;
    ///
    /// /// Add two numbers.
    /// #[tool(read_only)]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a.saturating_add(b)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
    /// let registry = Registry::builder().tool(add).build()?;
    /// let calls = (0..3).map(|n| ToolCall::new("same id", "add", format!(r#"{{"a":{n},"b":1}}"#)));
    /// let outcomes = registry.call_all(calls).await;
    /// let outputs: Vec<_> = outcomes.iter().filter_map(Outcome::output).collect();
    /// assert_eq!(outputs, ["1", "2", "3"]);
    /// # Ok(()) }
    /// ```
    pub async fn call_all(&self, calls: impl IntoIterator<Item = ToolCall>) -> Vec<Outcome> {
        self.call_all_with(calls, Context::default()).await
    }

    /// Calls several tools with one context for all calls, like [`call_all`](Self::call_all).
    pub async fn call_all_with(
        &self,
        calls: impl IntoIterator<Item = ToolCall>,
        context: Context,
    ) -> Vec<Outcome> {
        batch::run(&self.inner, calls.into_iter().collect(), context).await
    }

    /// Returns how many calls ended with each status, and how many conditions they reached.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.inner.statistics()
    }
}
