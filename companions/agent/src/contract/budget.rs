//! Budgets of a run: iterations, calls, failures and time.

use std::time::Duration;

use super::hooks::Hook;
use super::state::IterationState;

/// A limit on the resources of a run, as a ready-made invariant.
///
/// What runs nested in its calls use up counts, too: their requests, calls, failed calls, tokens and time, not the length and the
/// repetitions of their conversations. A nested run stays within the budgets of its own agent and of every run around it.
///
/// ```
/// use std::time::Duration;
///
/// use contract_agent::Budget;
///
/// let budgets = [Budget::Iterations(20), Budget::Time(Duration::from_secs(60))];
/// # let _ = budgets;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Budget {
    /// Replies of the model: steps, and useless replies that were requested again. The one beyond the limit is not
    /// requested.
    Iterations(u64),
    /// Tool calls, including refused ones.
    ToolCalls(u64),
    /// Calls that did not succeed.
    Errors(u64),
    /// Time since the run began, without that in which a person was asked; checked before every request and at the beginning of every step.
    Time(Duration),
    /// Characters of the messages of one request, as [`IterationState::estimated_prompt_chars`] counts them; a request that holds
    /// more is not sent.
    PromptCharacters(u64),
    /// Equal observations in a row.
    SameObservation(u64),
    /// Equal calls in a row.
    SameAction(u64),
    /// Tokens that the model read and wrote, as far as it reports them.
    Tokens(u64),
}

impl Budget {
    #[track_caller]
    pub(super) fn hook(self) -> Hook {
        let (name, most) = match self {
            Self::Iterations(most) => ("iterations", format!("{most} steps")),
            Self::ToolCalls(most) => ("tool calls", format!("{most} calls of tools")),
            Self::Errors(most) => ("errors", format!("{most} failed calls")),
            Self::Time(most) => ("time", format!("{most:?}")),
            Self::PromptCharacters(most) => ("prompt characters", format!("{most} characters")),
            Self::SameObservation(most) => (
                "same observation",
                format!("{most} equal observations in a row"),
            ),
            Self::SameAction(most) => ("same action", format!("{most} equal calls in a row")),
            Self::Tokens(most) => ("tokens", format!("{most} tokens")),
        };
        Hook::new(format!("budget: {name}")).message(format!("a run has at most {most}"))
    }

    /// Whether it can be used up within one step.
    pub(super) const fn is_of_calls(self) -> bool {
        matches!(self, Self::ToolCalls(_) | Self::SameAction(_))
    }

    pub(super) fn holds(self, state: &IterationState) -> bool {
        match self {
            Self::Iterations(most) => state.replies().saturating_add(state.nested_requests) <= most,
            Self::ToolCalls(most) => state.tool_calls <= most,
            Self::Errors(most) => state.errors <= most,
            Self::Time(most) => state.elapsed <= most,
            Self::PromptCharacters(most) => state.estimated_prompt_chars <= most,
            Self::SameObservation(most) => state.consecutive_same_observation <= most,
            Self::SameAction(most) => state.consecutive_same_action <= most,
            Self::Tokens(most) => {
                let usage = state.usage;
                usage.input_tokens.saturating_add(usage.output_tokens) <= most
            }
        }
    }
}
