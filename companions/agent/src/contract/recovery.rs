//! Recovery from an enforced violation: end the run, or let the model try again.

/// What happens after a violation that ends a call, a step or an answer.
///
/// ```
/// use contract_agent::{ContractAgent, Recovery, Scripted, ToolCallingAgent};
/// use contract_runtime::prelude::*;
///
/// /// Divide one number by another.
/// #[tool]
/// #[pre(divisor != 0.0, "cannot divide by zero")]
/// fn divide(dividend: f64, divisor: f64) -> f64 {
///     dividend / divisor
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
/// let registry = Registry::builder().tool(divide).build()?;
/// let model = Scripted::new()
///     .calls("I divide.", [("divide", r#"{"dividend": 7, "divisor": 0}"#)])
///     .calls("By two, then.", [("divide", r#"{"dividend": 7, "divisor": 2}"#)])
///     .text("It is 3.5.");
/// let agent = ContractAgent::builder(ToolCallingAgent::new(model, registry));
/// let result = agent.recovery(Recovery::retry(1)).build().run("Divide 7.").await;
/// assert_eq!(result.answer.as_deref(), Some("It is 3.5."));
/// assert_eq!((result.statistics.violations, result.statistics.retries), (1, 1));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recovery {
    /// The run ends, as a program ends in C++26.
    #[default]
    Terminate,
    /// The model is told which condition it broke, and may try again.
    Retry {
        /// The number of attempts for each condition.
        attempts: u32,
        /// The number of attempts in the whole run.
        in_total: u32,
    },
}

impl Recovery {
    /// Lets the model try again this often for each condition, and four times as often in the whole run.
    #[must_use]
    pub const fn retry(attempts: u32) -> Self {
        Self::Retry {
            attempts,
            in_total: attempts.saturating_mul(4),
        }
    }
}
