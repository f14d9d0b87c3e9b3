//! What conditions ask of the earlier calls of a run.

mod answer;
mod place;
mod records;

pub use answer::{AskedValue, ToolFunction};
pub(crate) use answer::{Asker, HistoryTool, Unanswered};
pub(crate) use place::{CallEnd, CallPlace};
pub(crate) use records::{HAS_OTHERS, RunHistory, SentArguments};

use super::scope::ContractScope;
use answer::{Question, Tool};

/// Returns the history of the run that the call belongs to, for a condition: which tools were called before, and how their
/// calls ended.
///
/// It belongs in a `#[pre]`, or a `#[given]`, of a tool. An ordinary function that helps a condition takes it as a parameter.
///
/// | question | is about calls that |
/// |---|---|
/// | [`seen`](History::seen) | succeeded in an earlier turn, so that the model has read the result |
/// | [`ok`](History::ok) | certainly succeeded |
/// | [`count`](History::count) | began before this one, and have had their effect, or may have |
///
/// [`with`](History::with) narrows a question to calls with an argument.
///
/// ```
/// use contract_runtime::prelude::*;
/// use contract_runtime::Run;
///
/// /// Find an order.
/// #[tool(read_only)]
/// fn find_order(order_id: String) -> String {
///     format!("{order_id}: one lamp, 40 EUR")
/// }
///
/// /// Refund an order.
/// #[tool(destructive)]
/// #[pre(history().with("order_id", &order_id).seen(find_order), "look the order up first")]
/// #[pre(history().with("order_id", &order_id).count(refund) < 1, "{order_id} is refunded once")]
/// fn refund(order_id: String) -> String {
///     format!("refunded {order_id}")
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
/// let registry = Registry::builder().tool(find_order).tool(refund).build()?;
/// let run = Run::new();
/// let call = |tool: &str| {
///     let call = ToolCall::new("1", tool, r#"{"order_id":"W1"}"#);
///     registry.call(call).context(Context::new().run(&run))
/// };
/// assert_eq!(call("refund").await.error().unwrap(), r#"look the order up first, got order_id = "W1""#);
/// assert!(call("find_order").await.is_ok());
/// assert!(call("refund").await.is_ok());
/// assert_eq!(call("refund").await.error().unwrap(), "W1 is refunded once");
/// # Ok(()) }
/// ```
///
/// A question that cannot be answered fails the condition, whatever the condition makes of the answer: in a call that belongs to
/// no run, in a direct Rust call, and where the run no longer keeps what is asked for. A run keeps the last 1,000 calls of each
/// tool, each with at most 4 kB of its arguments; of longer and of secret ones it keeps a hash. Questions that nothing narrows count
/// all calls.
///
/// A run within another one shares its history, except that `seen` is about what its own model has read.
///
/// # Panics
///
/// A question panics where no condition or given is being judged, such as in a body or on another thread; in a helper of a condition
/// that did not take the history as a parameter, that is a violation.
pub fn history() -> History {
    History {
        scope: ContractScope::current(),
        narrowed: Vec::new(),
    }
}

/// The history of a run, as a condition sees it; see [`history`](history()).
#[derive(Clone, Debug)]
#[must_use = "ask it for calls with `seen`, `ok` or `count`"]
pub struct History {
    scope: ContractScope,
    /// The names and values of arguments; without a value where it cannot be written as JSON.
    narrowed: Vec<(String, Option<serde_json::Value>)>,
}

#[allow(
    clippy::needless_pass_by_value,
    reason = "a function item is a name, and its type says all"
)]
impl History {
    /// Narrows the next question to calls that had this value as this argument, by the name that the model knows.
    ///
    /// Values are compared as JSON. An argument that was left out had its default, or else null.
    pub fn with<V: AskedValue + ?Sized>(mut self, argument: &str, value: &V) -> Self {
        let value = serde_json::to_value(value).ok();
        self.narrowed.push((argument.to_owned(), value));
        self
    }

    /// Returns whether a call of this tool succeeded in an earlier turn, so that the model has read its result.
    ///
    /// Calls of one reply of a model are of one turn, such as those of one [`call_all`](crate::Registry::call_all); a single
    /// call is a turn of its own. See [`Run::turn`](crate::Run::turn).
    #[must_use]
    pub fn seen<S>(&self, tool: impl ToolFunction<S>) -> bool {
        self.ask(Tool::of(&tool), Question::Seen) > 0
    }

    /// Returns whether a call of this tool certainly succeeded, in whatever turn.
    #[must_use]
    pub fn ok<S>(&self, tool: impl ToolFunction<S>) -> bool {
        self.ask(Tool::of(&tool), Question::Succeeded) > 0
    }

    /// Returns how many calls of this tool began before this one, and have had their effect, or may have: they run, succeeded,
    /// failed, panicked, ran out of time or broke a postcondition. Calls that were refused before the body are not counted, nor
    /// those that were only [checked](crate::Registry::check).
    ///
    /// Of two calls at the same time one began first, so a limit holds for both.
    ///
    /// A method that asks about a method of its own state is answered about this state alone. Asked from elsewhere about two states
    /// in one registry, `count` is the sum, and `seen` and `ok` have no answer.
    #[must_use]
    pub fn count<S>(&self, tool: impl ToolFunction<S>) -> usize {
        self.ask(Tool::of(&tool), Question::Counted)
    }

    /// Returns the same as [`seen`](Self::seen), of a tool that is called by this name, such as an imported one.
    ///
    /// The name is the one that the tool had before [`Builder::prefix`](crate::Builder::prefix) and
    /// [`Builder::rename`](crate::Builder::rename), if the tool that asks is of the same prefix; otherwise it is the name by which
    /// the tool is called. A name that the registry does not know, and that was not called in the run, has no answer.
    #[must_use]
    pub fn seen_named(&self, tool: &str) -> bool {
        self.ask(Tool::Named(tool), Question::Seen) > 0
    }

    /// Returns the same as [`ok`](Self::ok), of a tool that is called by this name, such as an imported one.
    #[must_use]
    pub fn ok_named(&self, tool: &str) -> bool {
        self.ask(Tool::Named(tool), Question::Succeeded) > 0
    }

    /// Returns the same as [`count`](Self::count), of a tool that is called by this name, such as an imported one.
    #[must_use]
    pub fn count_named(&self, tool: &str) -> usize {
        self.ask(Tool::Named(tool), Question::Counted)
    }

    /// Where there is no answer the condition fails, so the number that is returned then decides nothing.
    fn ask(&self, tool: Tool<'_>, question: Question) -> usize {
        let place = self.scope.get().and_then(|scope| scope.place.as_deref());
        let Some(place) = place.filter(|place| place.is_asked()) else {
            panic!(
                "`history()` belongs in a `#[pre]` or a `#[given]` of a tool; a function that helps one takes it as a parameter, as in `#[pre(once(&history(), &order_id))]`"
            );
        };
        place
            .answer(tool, question, &self.narrowed)
            .unwrap_or_else(|unanswered| place.note(unanswered))
    }
}
