//! Who is asked before a call.

use crate::contract::panics;
use crate::tool::outcome::End;
use crate::tool::{Status, ToolCall};

/// What a model is told when nobody can say whether it may call.
const PANICKED: &str = "the call was not run: what is asked before each call panicked; this is a fault of the program, not of the arguments";

type Ask = Box<dyn Fn(&ToolCall) -> Result<(), String> + Send + Sync>;

/// Those who are asked before every call; most registries have none.
#[derive(Default)]
pub(super) struct Before(Vec<Ask>);

impl Before {
    pub(super) fn push(
        &mut self,
        ask: impl Fn(&ToolCall) -> Result<(), String> + Send + Sync + 'static,
    ) {
        self.0.push(Box::new(ask));
    }

    #[inline]
    pub(super) fn is_some(&self) -> bool {
        !self.0.is_empty()
    }

    /// Asks one after the other, until one refuses.
    #[cold]
    pub(super) fn ask(&self, call: &ToolCall) -> Result<(), End> {
        for ask in &self.0 {
            // Who cannot answer has not agreed.
            let (status, error) = match panics::guard(|| ask(call)) {
                Ok(Ok(())) => continue,
                Ok(Err(reason)) => (Status::Cancelled, reason),
                Err(_) => (Status::Panicked, PANICKED.to_owned()),
            };
            return Err(End::Said {
                status,
                error,
                may_still_run: false,
            });
        }
        Ok(())
    }
}
