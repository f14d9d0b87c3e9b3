//! Narrows a builder to some tools, for verification.

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

    /// Leaves these tools, as another registry has them; those that were added here as well, with the state that they have here.
    pub(crate) fn leaving(mut self, entries: &[&Entry]) -> Self {
        let added: Vec<Tool> = self.tools.drain(..).collect();
        self.tools = entries
            .iter()
            .map(|entry| narrowed(&added, entry))
            .collect();
        self.overrides.clear();
        self.asks.clear();
        self.partial = true;
        // A result is judged whole.
        self.limits.output_chars = usize::MAX;
        self
    }
}

fn narrowed(added: &[Tool], entry: &Entry) -> Tool {
    let wanted = &entry.tool;
    let same = |tool: &&Tool| {
        let named = tool.name == wanted.name
            || tool.spec().is_some_and(|spec| {
                wanted
                    .spec()
                    .is_some_and(|wanted| spec.contract.name == wanted.contract.name)
            });
        named && tool.location == wanted.location
    };
    let own = added.iter().rfind(same).cloned();
    let mut tool = own.unwrap_or_else(|| entry.whole_tool());
    tool.name.clone_from(&wanted.name);
    tool.timeout = entry.timeout;
    tool.coerce = entry.inputs.coerce;
    tool
}
