//! The blocks of an imported result, as its server wrote them, for a client to whom the tool is served again.
//!
//! [`Content`] has one text and then artifacts; links, annotations and the order of blocks are not in it.

use std::cell::RefCell;

use contract_runtime::{Artifact, Content};
use rmcp::model::ContentBlock;

tokio::task_local! {
    static KEPT: RefCell<Option<Original>>;
}

/// A result that was imported during a call of a server.
pub(crate) struct Original {
    content: Content,
    blocks: Vec<ContentBlock>,
}

impl Original {
    /// Returns the blocks, if this is what the call has come to, and not what it was made of.
    pub(crate) fn of(self, text: &str, artifacts: &[Artifact]) -> Option<Vec<ContentBlock>> {
        let same = self.content.as_text() == text && self.content.artifacts() == artifacts;
        same.then_some(self.blocks)
    }
}

/// Whether a call of a server is being made, whose client could want the blocks.
pub(crate) fn is_wanted() -> bool {
    KEPT.try_with(|_| ()).is_ok()
}

/// Keeps what a result was before it became content.
pub(crate) fn keep(content: &Content, blocks: Vec<ContentBlock>) {
    let _ = KEPT.try_with(|kept| {
        let content = content.clone();
        kept.replace(Some(Original { content, blocks }))
    });
}

/// Makes a call, and returns what the last tool that it imported had given.
pub(crate) async fn during<T>(calling: impl Future<Output = T>) -> (T, Option<Original>) {
    let keeping = async {
        let outcome = calling.await;
        (outcome, KEPT.with(RefCell::take))
    };
    KEPT.scope(RefCell::default(), keeping).await
}
