//! Narrows a builder to one tool, for verification.

use super::Builder;
use crate::registry::entry::Entry;
use crate::tool::Tool;
use crate::tool::context::Shared;

impl Builder {
    /// With the values that another registry gives.
    pub(crate) fn sharing(mut self, shared: &Shared) -> Self {
        self.shared = shared.clone();
        self
    }

    /// Leaves the one tool, as another registry has it; if it was added here as well, with the state that it has here.
    pub(crate) fn alone(mut self, entry: &Entry) -> Self {
        let wanted = &entry.tool;
        let same = |tool: &Tool| {
            let named = tool.name == wanted.name
                || tool.spec().is_some_and(|spec| {
                    wanted
                        .spec()
                        .is_some_and(|wanted| spec.contract.name == wanted.contract.name)
                });
            named && tool.location == wanted.location
        };
        let own = self.tools.drain(..).rfind(same);
        let mut tool = own.unwrap_or_else(|| entry.whole_tool());
        tool.name.clone_from(&wanted.name);
        tool.timeout = entry.timeout;
        tool.coerce = entry.inputs.coerce;
        self.tools.push(tool);
        self.overrides.clear();
        self.asks.clear();
        self.partial = true;
        // A result is judged whole.
        self.limits.output_chars = usize::MAX;
        self
    }
}
