//! What the handler of a dynamic tool can read of its call.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::cancellation::CancellationToken;
use super::context::{CallInfo, Deadline};
use super::context_params::{Need, Sources};
use super::log::Log;
use super::progress::Progress;
use crate::contract::approval::{self, Approver, Decision};
use crate::contract::scope::ContractScope;

/// What a handler made with [`Tool::dynamic_with`](crate::Tool::dynamic_with) knows about its call besides the arguments.
///
/// It is what `#[context]` parameters are to a `#[tool]`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DynamicContext {
    /// The call itself.
    pub call: CallInfo,
    /// The token that is cancelled when the caller cancels the call; the future of the handler is dropped then, and a
    /// task that it started can hold the token.
    pub cancellation: CancellationToken,
    /// The deadline of the call.
    pub deadline: Deadline,
    /// Reports how far the handler has come.
    pub progress: Progress,
    /// Tells people what the handler does.
    pub log: Log,
    /// That of the call itself.
    approver: Option<Approver>,
    values: Vec<Arc<dyn Any + Send + Sync>>,
}

impl DynamicContext {
    /// Returns the value of a type that [`DynamicSpec::context`](crate::DynamicSpec::context) requested; `None` for any
    /// other type.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let mut values = self.values.iter();
        values.find_map(|value| Arc::clone(value).downcast().ok())
    }

    /// Returns the time left, zero when the deadline has passed; `None` without a deadline.
    #[must_use]
    pub fn remaining(&self) -> Option<Duration> {
        self.deadline.remaining()
    }

    /// Asks a person about something that came up while the handler runs, such as a question of another server; `None` if nobody
    /// can be asked.
    ///
    /// The approver of the call, its run or its registry decides (see [`Builder::approver`](crate::Builder::approver)), and gets
    /// an [`ApprovalRequest`](crate::approval::ApprovalRequest) with one question, whose text is cleaned and has 2,000 characters at most. The
    /// time of the call goes on meanwhile, and no answer is remembered. What must be asked before anything happens is better asked by
    /// a condition. As with conditions, a call that another tool makes asks only an approver that answers at once, and a task that
    /// the handler has started asks nobody.
    ///
    /// ```
    /// use contract_runtime::approval::{Approval, Decision};
    /// use contract_runtime::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
    /// let send = Tool::dynamic_with(DynamicSpec::new("send", "Send the draft."), |_, context| async move {
    ///     match context.ask("The mailbox is full; send it anyway?").await {
    ///         Some(Decision::Approved(_)) => Ok(Content::text("sent")),
    ///         Some(Decision::Denied(why)) => Err(why),
    ///         _ => Err("the mailbox is full".to_owned()),
    ///     }
    /// });
    ///
    /// let registry = Registry::builder().with(send).build()?;
    /// let call = || ToolCall::new("1", "send", "{}");
    /// assert_eq!(registry.call(call()).await.error(), Some("the mailbox is full"));
    /// let yes = Context::new().approver(async |_| Decision::Approved(Approval::Once));
    /// assert_eq!(registry.call(call()).context(yes).await.output(), Some("sent"));
    /// # Ok(()) }
    /// ```
    pub async fn ask(&self, question: impl fmt::Display) -> Option<Decision> {
        let question = question.to_string();
        let scope = ContractScope::current();
        approval::during_call(scope.get()?, self.approver.as_ref(), &question).await
    }

    pub(super) fn new(sources: &Sources<'_>, needs: &[Need]) -> Self {
        let own = sources.own;
        let value = |need: &Need| {
            let given = sources.context.shared(need.of);
            given.or_else(|| sources.shared.shared(need.of))
        };
        Self {
            call: own.info.clone(),
            cancellation: own.cancellation.clone(),
            deadline: own.deadline,
            progress: own.progress.clone(),
            log: own.log.clone(),
            approver: sources.context.own_approver(),
            values: needs.iter().filter_map(value).collect(),
        }
    }
}

/// That a handler looks at its call, which every registry can show.
pub(crate) fn of_call() -> Need {
    need::<CallInfo>()
}

pub(super) fn need<T: 'static>() -> Need {
    Need {
        of: TypeId::of::<T>(),
        name: std::any::type_name::<T>(),
        optional: false,
    }
}
