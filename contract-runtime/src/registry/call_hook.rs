//! The hook that runs before a call and may refuse it.

use crate::contract::panics;
use crate::contract::scope::ContractScope;
use crate::tool::failure::FailureKind;
use crate::tool::{Status, ToolCall};

/// What a model is told when nobody can say whether it may call.
const PANICKED: &str = "the call was not run: a check before the call panicked; this is a fault of the program, not of the arguments";

type Ask = Box<dyn Fn(&ToolCall) -> Result<(), String> + Send + Sync>;

/// The hooks that are asked before every call; most registries have none.
#[derive(Default)]
pub(super) struct CallHook(Vec<Ask>);

impl CallHook {
    pub(super) fn push(
        &mut self,
        ask: impl Fn(&ToolCall) -> Result<(), String> + Send + Sync + 'static,
    ) {
        self.0.push(Box::new(ask));
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Asks one after the other, until one refuses.
    #[inline]
    pub(super) fn ask(&self, call: impl FnOnce() -> ToolCall) -> Result<(), FailureKind> {
        if self.is_empty() {
            return Ok(());
        }
        let call = &call();
        for ask in &self.0 {
            // Who cannot answer has not agreed.
            let (status, error) = match ContractScope::deeper(|| panics::guard(|| ask(call))) {
                Ok(Ok(())) => continue,
                Ok(Err(reason)) => (Status::Cancelled, reason),
                Err(_) => (Status::Panicked, PANICKED.to_owned()),
            };
            return Err(FailureKind::before_body(status, &error));
        }
        Ok(())
    }
}
