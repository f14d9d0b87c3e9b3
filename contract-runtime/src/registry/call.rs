//! Calls as values: they are configured by methods, and begin when they are first polled.

use std::fmt;
use std::future::Future;
use std::mem::take;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Task, Poll};

use super::blocking;
use super::body::{CallSetup, Mode};
use super::dispatch::not_started;
use super::inner::Inner;
use crate::contract::panics::discard;
use crate::contract::policy::Policy;
use crate::contract::scope::Phase;
use crate::futures::now_or_never;
use crate::tool::CallInput;
use crate::tool::dynamic::Runs;
use crate::tool::failure::FailureKind;
use crate::tool::outcome::Ending;
use crate::tool::{Context, Outcome};

mod sealed {
    use super::{CallInput, Ending};

    /// The result type of a call, and how it is made from the end of the call.
    pub trait Form: Send + 'static {
        type Output: Send;
        fn of(ending: Ending, input: &mut CallInput<'_>) -> Self::Output;
    }
}
use sealed::Form;

/// A [`Call`] that ends as an [`Outcome`].
#[derive(Debug)]
pub struct Whole;

/// A [`Call`] that ends as the text of its result, or as the [`Outcome`] of a call without one.
#[derive(Debug)]
pub struct Text;

/// A [`Call`] that ends before its body.
#[derive(Debug)]
pub struct Check;

impl Form for Whole {
    type Output = Outcome;

    fn of(ending: Ending, input: &mut CallInput<'_>) -> Outcome {
        Outcome {
            id: take(&mut input.id).into_owned(),
            tool: take(&mut input.name).into_owned(),
            ending,
        }
    }
}

impl Form for Text {
    type Output = Result<String, Outcome>;

    fn of(ending: Ending, input: &mut CallInput<'_>) -> Self::Output {
        match ending.end {
            Ok(output) => Ok(output.text),
            Err(_) => Err(Whole::of(ending, input)),
        }
    }
}

impl Form for Check {
    type Output = Outcome;

    fn of(ending: Ending, input: &mut CallInput<'_>) -> Outcome {
        Whole::of(ending, input)
    }
}

/// A call of a tool by name, as [`Registry::call`](crate::Registry::call) and [`Registry::check`](crate::Registry::check) give it.
///
/// It is a future, and begins when it is first polled. Dropping it cancels the call; a blocking body that has begun runs to its
/// end. A sync tool runs where it is polled.
///
/// ```
/// use contract_runtime::prelude::*;
/// use std::time::Duration;
///
/// /// Divide one number by another.
/// #[tool]
/// #[pre(divisor != 0, "cannot divide by zero")]
/// fn divide(dividend: i32, divisor: i32) -> Option<i32> {
///     dividend.checked_div(divisor)
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
/// let registry = Registry::builder().tool(divide).build()?;
/// let call = ToolCall::new("1", "divide", r#"{"dividend":6,"divisor":3}"#);
/// let context = Context::new().timeout(Duration::from_secs(1));
/// assert_eq!(registry.call(&call).context(context).await.output(), Some("2"));
/// assert_eq!(registry.call(&call).text().await.unwrap(), "2");
/// # Ok(()) }
/// ```
#[must_use = "a call begins when it is awaited, or by `blocking`"]
pub struct Call<'r, F: Form = Whole> {
    inner: &'r Arc<Inner>,
    begin: Option<CallSetup<'r>>,
    running: Option<Pin<Box<dyn Future<Output = F::Output> + Send + 'r>>>,
}

impl<F: Form> fmt::Debug for Call<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let input = self.begin.as_ref().map(|begin| &begin.input);
        f.debug_struct("Call").field("input", &input).finish()
    }
}

impl<'r> Call<'r> {
    /// Makes it a call from text to text: the result as the model gets it, or the outcome of a call that has none.
    ///
    /// Artifacts and observed violations are left out.
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
    ///     let answer = registry.call(("1", "divide", arguments)).text().await;
    ///     answer.unwrap_or_else(|outcome| outcome.error().unwrap_or_default().to_owned())
    /// };
    /// assert_eq!(divide(r#"{"dividend":6,"divisor":3}"#).await, "2");
    /// assert_eq!(divide(r#"{"dividend":6,"divisor":0}"#).await, "cannot divide by zero, got divisor = 0");
    /// # Ok(()) }
    /// ```
    #[inline]
    pub fn text(self) -> Call<'r, Text> {
        Call {
            inner: self.inner,
            begin: self.begin,
            running: None,
        }
    }
}

impl Call<'_, Check> {
    /// Evaluates every precondition, where a check stops at the first one that ends the call.
    ///
    /// No policy counts: conditions that are ignored are evaluated too, and those that do not hold are in
    /// [`Outcome::observed`], also those about which a person would be asked. What a tool asks about every call is left out; a
    /// check without this ends as [`asked`](crate::Status::Asked).
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
    /// let broken = registry.check(call).every_condition().await;
    /// assert_eq!(broken.observed().len(), 2);
    /// # Ok(()) }
    /// ```
    pub fn every_condition(self) -> Self {
        self.judged_by(Policy::Observe, false)
    }
}

impl<'r, F: Form> Call<'r, F> {
    pub(super) fn new(inner: &'r Arc<Inner>, mut input: CallInput<'r>, mode: Mode) -> Self {
        let index = inner.position(&input.name);
        if let Some(index) = index.filter(|_| inner.renames) {
            inner.give_own_names(index, &mut input);
        }
        let begin = Some(CallSetup {
            index,
            context: take(&mut input.context),
            input,
            mode,
        });
        Self {
            inner,
            begin,
            running: None,
        }
    }

    /// Gives the call a [`Context`]: values for `#[context]` parameters, a run, a timeout and more. It replaces any earlier one.
    pub fn context(mut self, context: Context) -> Self {
        if let Some(begin) = &mut self.begin {
            begin.context = context;
        }
        self
    }

    /// Makes it a trial: with this policy in the place of every other setting, and with no observer but those of its context. A trial
    /// calls any tool, whoever sees it.
    #[doc(hidden)]
    pub fn under(self, policy: Policy) -> Self {
        self.judged_by(policy, true)
    }

    fn judged_by(mut self, policy: Policy, sees_all: bool) -> Self {
        if let Some(begin) = &mut self.begin {
            begin.mode.policy = Some(policy);
            begin.mode.sees_all = sees_all;
        }
        self
    }

    /// Makes the call, if nothing of it has to be waited for.
    #[inline]
    fn at_once(&mut self) -> Option<F::Output> {
        let setup = self.begin.as_mut()?;
        let ending = self.inner.dispatch_now(setup)?;
        let end = concluded::<F>(ending, setup);
        self.begin = None;
        Some(end)
    }

    /// Makes the call from a thread that runs no async code.
    ///
    /// A sync tool is called at once, on any thread. An async or `blocking` tool has to be waited for: inside an async runtime
    /// its outcome is `failed`, because waiting here would stop that runtime's other tasks; the body of a `blocking` tool may
    /// wait.
    ///
    /// An async body runs in a runtime of this library, which goes on to serve other calls. Tasks that a body leaves behind end
    /// with its call. A connection or a timer that outlives its call needs a runtime of the program's own.
    ///
    /// # Panics
    ///
    /// If the call was polled before and has ended.
    #[allow(
        clippy::must_use_candidate,
        reason = "a call has effects, and an `Outcome` is `must_use` by itself"
    )]
    pub fn blocking(mut self) -> F::Output {
        if let Some(end) = self.at_once() {
            return end;
        }
        let Some(begin) = &self.begin else {
            return match blocking::wait(&mut self) {
                Some(end) => end,
                None => panic!("{OVER}"),
            };
        };
        let entry = begin.index.and_then(|index| self.inner.entries.get(index));
        let (id, name) = (begin.input.id.to_string(), begin.input.name.to_string());
        let mut names = CallInput::from((id, name, ""));
        let waits = entry.is_some_and(|entry| entry.tool.runs != Runs::Here);
        let asks =
            self.inner.has_hooks(&begin.context) || entry.is_some_and(|entry| entry.asks.any());
        let end = match blocking::problem(&names.name) {
            Some(why) if waits => {
                return F::of(self.inner.refused(FailureKind::Failed(why)), &mut names);
            }
            None if waits || asks => match blocking::wait(&mut self) {
                Some(end) => return end,
                None => FailureKind::Failed("no async runtime could be started".to_owned()),
            },
            // A hook that answers at once refuses at the second poll.
            _ => match (0..2).find_map(|_| now_or_never(Pin::new(&mut self))) {
                Some(end) => return end,
                None => not_started(NOT_AT_ONCE),
            },
        };
        F::of(Ending::failed(end, Phase::BeforeBody), &mut names)
    }
}

const OVER: &str = "a call was polled after it had ended";
const NOT_AT_ONCE: &str = "a hook or the approver did not answer at once, and `blocking` cannot wait inside an async runtime";

impl<F: Form> Future for Call<'_, F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<F::Output> {
        let this = self.get_mut();
        let inner = this.inner;
        if let Some(end) = this.at_once() {
            return Poll::Ready(end);
        }
        if let Some(mut setup) = this.begin.take() {
            this.running = Some(Box::pin(async move {
                let ending = inner.dispatch(&mut setup).await;
                concluded::<F>(ending, &mut setup)
            }));
        }
        match &mut this.running {
            Some(running) => running.as_mut().poll(task),
            None => panic!("{OVER}"),
        }
    }
}

#[inline]
fn concluded<F: Form>(ending: Ending, setup: &mut CallSetup<'_>) -> F::Output {
    if !setup.context.is_empty() {
        // It may hold the caller's last handle of a value whose destructor panics.
        discard(take(&mut setup.context));
    }
    F::of(ending, &mut setup.input)
}
