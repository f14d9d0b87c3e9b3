//! Registries: the tools that can be called, and the lifecycle of a call.

mod approval;
mod asks;
mod batch;
mod blocking;
mod body;
mod build_error;
mod builder;
mod call;
mod dispatch;
pub(crate) mod dry_run;
pub(crate) mod entry;
mod findings;
mod inner;
pub mod methods;
mod solver;
mod statistics;
mod tool_info;
mod visible;

use std::sync::Arc;

pub use build_error::{BuildError, BuildProblem};
pub use builder::Builder;
pub use builder::is_tool_name;
pub use inner::Program;
pub use statistics::Statistics;
pub use tool_info::ToolInfo;

pub use batch::CallAll;
use body::Mode;
pub use call::{Call, Check, Text, Whole};
use inner::Inner;

use crate::tool::{CallInput, Context};

/// A fixed set of tools that can be called by name.
///
/// It never raises: one call in, exactly one [`Outcome`](crate::Outcome) out. It is cheap to clone, and every clone is the same registry.
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
/// let outcome = registry.call(ToolCall::new("1", "add", r#"{"a":1,"b":2}"#)).blocking();
/// assert_eq!(outcome.output(), Some("3"));
/// # Ok::<(), contract_runtime::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Registry {
    inner: Arc<Inner>,
    /// The tools that are listed, if not all.
    view: Option<Arc<inner::View>>,
}

impl Registry {
    /// Starts a builder without tools; [`registry!`](crate::registry) starts one with the tools of the calling package.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Calls a tool by name: `registry.call(call).await`, or `.blocking()` on a thread that runs no async code.
    ///
    /// The [`Call`] says what else can be set on it, such as a [`Context`].
    ///
    /// ```
    /// use contract_runtime::prelude::*;
    ///
    /// /// Double a number.
    /// #[tool]
    /// async fn double(number: i32) -> i64 {
    ///     i64::from(number) * 2
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
    /// let registry = Registry::builder().tool(double).build()?;
    /// let outcome = registry.call(ToolCall::new("1", "double", r#"{"number":21}"#)).await;
    /// assert_eq!(outcome.output(), Some("42"));
    /// # Ok(()) }
    /// ```
    pub fn call<'c>(&'c self, call: impl Into<CallInput<'c>>) -> Call<'c> {
        Call::new(&self.inner, call.into(), Mode::default())
    }

    /// Checks a call without running the body: looks up the tool, decodes the arguments and evaluates the preconditions.
    ///
    /// The outcome is `ok`, without output, when the body would run, and `asked` when a person would be asked first.
    /// Preconditions may depend on a [`context`](Call::context); [`every_condition`](Call::every_condition) does not stop at the
    /// first one that is broken.
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
    /// let call = ToolCall::new("1", "write_note", r#"{"text":"milk"}"#);
    /// let context = |may_write| Context::new().with(User { may_write });
    /// assert!(registry.check(&call).context(context(true)).await.is_ok());
    /// assert_eq!(registry.check(&call).context(context(false)).await.status(), Status::Violation);
    /// # Ok(()) }
    /// ```
    pub fn check<'c>(&'c self, call: impl Into<CallInput<'c>>) -> Call<'c, Check> {
        let mode = Mode {
            only_check: true,
            ..Mode::default()
        };
        Call::new(&self.inner, call.into(), mode)
    }

    /// Calls several tools: read-only ones concurrently, the others one at a time, in the order of the list.
    ///
    /// Outcomes come back in the order of the calls. Batches of one registry respect each other through one
    /// readers-writer gate; a plain [`call`](Self::call) does not wait for it. After a violation nothing further is
    /// started, and after a call that is not read-only has ended as [`asked`](crate::Status::Asked), nothing but read-only ones; what
    /// was not started is `cancelled`. Dropping the future stops the batch. A call may have a context of its own, `(call, context)`, which
    /// the context of the batch completes.
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
    pub fn call_all<'c, C: Into<CallInput<'c>>>(
        &'c self,
        calls: impl IntoIterator<Item = C>,
    ) -> CallAll<'c> {
        CallAll::new(&self.inner, calls.into_iter().map(Into::into).collect())
    }

    /// Tells the run of a context of a call that was made in it before, such as by an earlier process, and whose body may have run.
    ///
    /// Conditions over the [history](crate::history()) then answer as if the call had been made with this context. Tell calls in the
    /// order in which they began; the next turn has read the results of those that succeeded. If the registry has no tool of this name,
    /// it is not known which tool the call was of, and the run has [earlier calls](crate::Run::with_earlier_calls).
    ///
    /// ```
    /// use contract_runtime::prelude::*;
    /// use contract_runtime::Run;
    ///
    /// /// Say hello, once.
    /// #[tool]
    /// #[pre(history().count(greet) < 1, "once is enough")]
    /// fn greet() {}
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
    /// let registry = Registry::builder().tool(greet).build()?;
    /// let resumed = Context::new().run(&Run::new());
    /// registry.remember(("1", "greet", ""), &resumed, true);
    /// let outcome = registry.call(("2", "greet", "")).context(resumed).await;
    /// assert_eq!(outcome.error(), Some("once is enough"));
    /// # Ok(()) }
    /// ```
    pub fn remember<'c>(&self, call: impl Into<CallInput<'c>>, context: &Context, succeeded: bool) {
        self.inner.remember(call.into(), context, succeeded);
    }

    /// Returns how many calls ended with each status, and how many conditions they reached.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.inner.shards.statistics()
    }
}
