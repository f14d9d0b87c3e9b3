//! The builder's approver, and what it asks about.

use std::future::Future;

use super::Builder;
use crate::contract::approval::{ApprovalRequest, Approver, Decision};
use crate::registry::asks::AskChange;

impl Builder {
    /// Sets who decides on calls that ask, if neither the call nor its run has an approver.
    ///
    /// The call waits for the decision, up to the deadline and the cancellation of its caller; while it waits nothing of it is
    /// held, and the timeout of the tool begins anew behind it. Without an approver the call ends as
    /// [`asked`](crate::Status::Asked), and the caller may make it again with an [`Answer`](crate::approval::Answer). A call that a tool
    /// makes is denied, unless the decision is there at once or the call is one of a [`Run`](crate::Run) of its own, such as of an
    /// agent in the tool. An approver that panics has denied.
    ///
    /// ```
    /// use contract_runtime::prelude::*;
    /// use contract_runtime::approval::{Approval, Decision};
    /// use contract_runtime::Status;
    ///
    /// /// Cancel an order.
    /// #[tool(destructive, confirm = "Cancel order {order_id}?")]
    /// fn cancel(order_id: String) {}
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
    /// let registry = Registry::builder()
    ///     .tool(cancel)
    ///     .approver(async |request| match request.questions[0].text.as_str() {
    ///         "Cancel order \"W1\"?" => Decision::Approved(Approval::Once),
    ///         _ => Decision::Denied("only W1 may be cancelled".to_owned()),
    ///     })
    ///     .build()?;
    /// let call = |id| ToolCall::new("1", "cancel", format!(r#"{{"order_id":"{id}"}}"#));
    /// assert!(registry.call(call("W1")).await.is_ok());
    /// let denied = registry.call(call("W2")).await;
    /// assert_eq!(denied.status(), Status::Denied);
    /// assert_eq!(denied.error().unwrap(), "not started, because it was denied: only W1 may be cancelled");
    /// # Ok(()) }
    /// ```
    pub fn approver<F>(
        mut self,
        approver: impl Fn(ApprovalRequest) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Decision> + Send + 'static,
    {
        self.layer.approver = Some(Approver::new(approver));
        self
    }

    /// Lets a person decide where the precondition with this id does not hold, which its author made a refusal.
    ///
    /// Conditions have an id from `id = ".."`; those of a dynamic tool are known by their names.
    pub fn ask(self, tool: impl Into<String>, condition: impl Into<String>) -> Self {
        self.changing(Some(tool.into()), Some(condition.into()), true)
    }

    /// Makes a refusal of the precondition with this id, about which its author asks.
    pub fn without_ask(self, tool: impl Into<String>, condition: impl Into<String>) -> Self {
        self.changing(Some(tool.into()), Some(condition.into()), false)
    }

    /// Lets a person decide on every call of a tool, as `#[tool(confirm = "..")]` does.
    pub fn confirm(self, tool: impl Into<String>) -> Self {
        self.changing(Some(tool.into()), None, true)
    }

    /// Removes the question about every call of a tool.
    pub fn without_confirm(self, tool: impl Into<String>) -> Self {
        self.changing(Some(tool.into()), None, false)
    }

    /// Asks nobody about every call of any tool, where a person has agreed to all of them; a later
    /// [`confirm`](Self::confirm) of one tool holds. What conditions ask is not touched.
    ///
    /// ```
    /// use contract_runtime::prelude::*;
    ///
    /// /// Cancel an order.
    /// #[tool(confirm = "Cancel order {id}?")]
    /// fn cancel(id: u32) -> u32 {
    ///     id
    /// }
    ///
    /// let registry = Registry::builder().tool(cancel).without_confirms().build()?;
    /// let outcome = registry.call(ToolCall::new("1", "cancel", r#"{"id":7}"#)).blocking();
    /// assert_eq!(outcome.output(), Some("7"));
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn without_confirms(self) -> Self {
        self.changing(None, None, false)
    }

    fn changing(mut self, tool: Option<String>, condition: Option<String>, asks: bool) -> Self {
        self.asks.push(AskChange {
            tool,
            condition,
            asks,
        });
        self
    }
}
