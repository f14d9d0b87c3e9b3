//! A model that does the same thing again and again.

use super::state::canonical;
use crate::agent::event::LoopKind;
use crate::tool::ToolCall;

/// When a model counts as stuck; the call that completes the pattern is not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoopDetection {
    /// So many equal calls in a row, with equal arguments: 4. Zero turns it off.
    pub same_action: usize,
    /// So many calls of one tool in a row, whatever their arguments: off.
    pub same_tool: usize,
}

impl Default for LoopDetection {
    fn default() -> Self {
        Self {
            same_action: 4,
            same_tool: 0,
        }
    }
}

impl LoopDetection {
    /// Nothing counts as a loop.
    #[must_use]
    pub const fn off() -> Self {
        Self {
            same_action: 0,
            same_tool: 0,
        }
    }

    /// So many equal calls in a row are a loop.
    #[must_use]
    pub const fn same_action(mut self, calls: usize) -> Self {
        self.same_action = calls;
        self
    }

    /// So many calls of one tool in a row are a loop, whatever their arguments.
    #[must_use]
    pub const fn same_tool(mut self, calls: usize) -> Self {
        self.same_tool = calls;
        self
    }
}

/// The last call, and how often it stood in a row.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    last: Option<(String, String)>,
    actions: usize,
    tools: usize,
}

impl Repeats {
    pub(super) fn note(
        &mut self,
        detection: LoopDetection,
        call: &ToolCall,
    ) -> Option<(LoopKind, usize)> {
        let arguments = canonical(&call.arguments);
        let (same_tool, same_action) = match &self.last {
            Some((name, last)) => (*name == call.name, *name == call.name && *last == arguments),
            None => (false, false),
        };
        self.tools = if same_tool { self.tools + 1 } else { 1 };
        self.actions = if same_action { self.actions + 1 } else { 1 };
        self.last = Some((call.name.clone(), arguments));
        if detection.same_action > 0 && self.actions >= detection.same_action {
            return Some((LoopKind::ActionRepeat, self.actions));
        }
        (detection.same_tool > 0 && self.tools >= detection.same_tool)
            .then_some((LoopKind::ToolRepeat, self.tools))
    }
}
