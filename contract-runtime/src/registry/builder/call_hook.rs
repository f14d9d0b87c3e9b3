//! The builder's `before_call`: a hook that may refuse a call.

use super::Builder;
use crate::tool::ToolCall;

impl Builder {
    /// Sets a hook that runs before every call by name and may refuse it. It runs before anything else: also for calls of
    /// unknown tools, calls whose arguments will be refused, and each call of a batch.
    ///
    /// A call that is refused ends as [`cancelled`](crate::Status::Cancelled), with the reason as its error; nothing of it
    /// runs. It must be quick. One that panics refuses too, and the call ends as [`panicked`](crate::Status::Panicked).
    /// Where several are given, each is asked, in the order in which they were given, until one refuses. A check that runs
    /// nothing ([`Registry::check`](crate::Registry::check)) is not asked for, and a direct Rust call passes no registry.
    /// A refused call yields once to its runtime, so that a task that only makes such calls can still be dropped.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// use contract_runtime::Status;
    /// use contract_runtime::prelude::*;
    ///
    /// /// Say hello.
    /// #[tool]
    /// fn hello() -> &'static str {
    ///     "hello"
    /// }
    ///
    /// let left = AtomicU32::new(1);
    /// let take = move |_: &ToolCall| {
    ///     let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
    ///     taken.map(drop).map_err(|_| "no calls are left".to_owned())
    /// };
    /// let registry = Registry::builder().tool(hello).before_call(take).build()?;
    /// let call = || registry.call_blocking(ToolCall::new("1", "hello", ""));
    /// assert_eq!(call().output(), Some("hello"));
    /// assert_eq!(call().status(), Status::Cancelled);
    /// assert_eq!(call().error(), Some("no calls are left"));
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn before_call(
        mut self,
        ask: impl Fn(&ToolCall) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.before.push(ask);
        self
    }
}
