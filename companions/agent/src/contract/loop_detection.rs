//! Detects a model that repeats itself.

use super::state::IterationState;
use crate::event::LoopKind;

/// When a model counts as stuck; the call that completes the pattern is not run.
///
/// ```
/// use contract_agent::{ContractAgent, LoopDetection, LoopKind, RunError, Scripted, ToolCallingAgent};
/// use contract_runtime::prelude::*;
///
/// /// Look whether a letter has come.
/// #[tool(read_only)]
/// fn look() -> bool {
///     false
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
/// let registry = Registry::builder().tool(look).build()?;
/// let model = Scripted::new()
///     .calls("I look.", [("look", "{}")])
///     .calls("I look again.", [("look", "{}")]);
/// let agent = ContractAgent::builder(ToolCallingAgent::new(model, registry))
///     .loop_detection(LoopDetection::default().same_action(2))
///     .build();
/// let result = agent.run("Has the letter come?").await;
/// assert_eq!(result.error, Some(RunError::Loop { pattern: LoopKind::ActionRepeat, repeated: 2 }));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoopDetection {
    /// How many equal calls in a row, with equal arguments, are a loop; the default is 3. Zero turns it off.
    pub same_action: u64,
    /// How many steps in a row that call one tool are a loop, whatever the arguments; off by default. An agent that does
    /// all its work with one tool, such as a shell, is not stuck because of that.
    pub same_tool: u64,
    /// Whether the run of a stuck model ends with the results of its tools so far, as an answer; off by default. See
    /// [`answering`](Self::answering).
    pub answers: bool,
}

impl Default for LoopDetection {
    fn default() -> Self {
        Self {
            same_action: 3,
            same_tool: 0,
            answers: false,
        }
    }
}

impl LoopDetection {
    /// Turns loop detection off.
    #[must_use]
    pub const fn off() -> Self {
        Self {
            same_action: 0,
            same_tool: 0,
            answers: false,
        }
    }

    /// Counts this many equal calls in a row as a loop.
    #[must_use]
    pub const fn same_action(mut self, calls: u64) -> Self {
        self.same_action = calls;
        self
    }

    /// Counts this many steps in a row that call one tool as a loop, whatever the arguments.
    #[must_use]
    pub const fn same_tool(mut self, steps: u64) -> Self {
        self.same_tool = steps;
        self
    }

    /// Answers in place of a stuck model, with the last five results of tools, at most 200 characters of each.
    ///
    /// The answer must keep every postcondition. Without any result the run ends as it does otherwise, with
    /// [`RunError::Loop`](crate::RunError::Loop).
    #[must_use]
    pub const fn answering(mut self) -> Self {
        self.answers = true;
        self
    }

    /// What the model repeats, and how often it did, after a call.
    pub(super) fn found(self, state: &IterationState) -> Option<(LoopKind, u64)> {
        let is_loop = |most: u64, times| most > 0 && times >= most;
        if is_loop(self.same_action, state.consecutive_same_action) {
            return Some((LoopKind::ActionRepeat, state.consecutive_same_action));
        }
        is_loop(self.same_tool, state.same_tool_steps)
            .then_some((LoopKind::ToolRepeat, state.same_tool_steps))
    }
}
