//! Calls that try a tool: under one policy for every condition, and heard by nobody.

use super::Registry;
use super::entry::Entry;
use super::job::Mode;
use crate::contract::policy::Policy;
use crate::tool::context::Shared;
use crate::tool::{Context, Outcome, Run, ToolCall};

impl Registry {
    /// Everything up to the body, with this policy instead of every other setting.
    pub(crate) async fn try_check(&self, call: ToolCall, policy: Policy) -> Outcome {
        self.try_call(call, Context::new(), policy, true).await
    }

    /// A call, with this policy instead of every other setting.
    pub(crate) async fn try_call(
        &self,
        call: ToolCall,
        context: Context,
        policy: Policy,
        only_check: bool,
    ) -> Outcome {
        let mode = Mode {
            only_check,
            policy: Some(policy),
            ..Mode::default()
        };
        let quiet = Run::new().on_violation(|_| {});
        self.inner.call(call, context.run(&quiet), mode).await
    }

    /// What it gives to the `#[context]` parameters of its tools.
    pub(crate) fn values(&self) -> &Shared {
        &self.inner.shared
    }

    /// What stands behind a tool of this registry.
    pub(crate) fn entry(&self, name: &str) -> Option<&Entry> {
        self.inner.find(name)
    }
}
