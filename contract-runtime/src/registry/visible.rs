//! Which tools a caller may see, and therefore call.

use std::sync::Arc;

use super::entry::Entry;
use super::inner::{Exports, View};
use super::{Builder, Registry, ToolInfo};
use crate::tool::Context;

impl Builder {
    /// Shows a tool only to callers for whom this returns true; a tool that is not shown cannot be called.
    ///
    /// It is asked about each call that comes from outside, also about one that is only checked, and by [`Registry::visible_to`],
    /// from which agents and servers make their listings. Calls that a body makes by itself are not asked about. A call of a tool
    /// that is hidden ends as [`unknown_tool`](crate::Status::UnknownTool), and its error names no hidden tool. Where several
    /// functions are given, each must show the tool. A function that panics hides it, and so does one that is asked inside of
    /// another. It must be quick, and should depend on nothing but its arguments, so that listings and calls agree.
    ///
    /// ```
    /// use contract_runtime::Status;
    /// use contract_runtime::prelude::*;
    ///
    /// /// Read a record.
    /// #[tool(read_only)]
    /// fn read(id: u32) {}
    ///
    /// /// Delete a record.
    /// #[tool(destructive)]
    /// fn delete(id: u32) {}
    ///
    /// let registry = Registry::builder()
    ///     .tool(read)
    ///     .tool(delete)
    ///     .visible(|context, tool| tool.hints().read_only == Some(true) || context.caller() == Some("root"))
    ///     .build()?;
    /// let ada = || Context::new().identified_as("ada");
    /// assert_eq!(registry.visible_to(&ada()).tools().len(), 1);
    /// let outcome = registry.call(("1", "delete", r#"{"id":7}"#)).context(ada()).blocking();
    /// assert_eq!(outcome.status(), Status::UnknownTool);
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn visible(
        mut self,
        show: impl Fn(&Context, ToolInfo<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        let show = move |context: &Context, entry: &Entry| show(context, ToolInfo { entry });
        self.visibility.0.push(Arc::new(show));
        self
    }
}

impl Registry {
    /// Returns the same registry with a listing of the tools that a caller may see, as [`Builder::visible`] says.
    ///
    /// [`tools`](Self::tools), [`tool`](Self::tool), [`export`](Self::export) and whatever is made of them hold these tools only.
    /// A call is judged by its own [`Context`], whichever listing it was chosen from. Without a context for its listing a
    /// registry lists all tools.
    ///
    /// ```
    /// use contract_runtime::{Dialect, prelude::*};
    ///
    /// /// Send an invoice.
    /// #[tool]
    /// fn send(id: u32) {}
    ///
    /// let registry = Registry::builder().tool(send).visible(|context, _| context.caller().is_some()).build()?;
    /// assert_eq!(registry.visible_to(&Context::new()).export_text(Dialect::Anthropic), "[]");
    /// # Ok::<(), BuildError>(())
    /// ```
    #[must_use]
    pub fn visible_to(&self, context: &Context) -> Self {
        let inner = Arc::clone(&self.inner);
        if inner.visibility.is_empty() {
            return Self { inner, view: None };
        }
        let shown = |place: &usize| inner.shows(*place, context);
        let view = View {
            places: (0..inner.entries.len()).filter(shown).collect(),
            exports: Exports::default(),
        };
        let view = Some(Arc::new(view));
        Self { inner, view }
    }
}
