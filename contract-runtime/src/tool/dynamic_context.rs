//! What the handler of a dynamic tool can read of its call.

use std::any::{Any, TypeId};
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::context::{CallInfo, Deadline};
use super::context_params::{Need, Sources};
use super::log::Log;
use super::progress::Progress;

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
