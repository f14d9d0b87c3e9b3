use std::collections::HashSet;

use rmcp::model::{PaginatedRequestParams, Tool};
use rmcp::service::{Peer, RoleClient};

use super::ImportError;
use super::names::shortened;

/// More tools than any server has, and more than any model could choose from.
const TOOLS: usize = 10_000;
/// Pages of one list; at one tool a page, all of them.
const PAGES: usize = TOOLS + 1;
/// The list as JSON text, in bytes.
const BYTES: usize = 64 << 20;

/// All tools of a server.
pub(super) async fn all(peer: &Peer<RoleClient>) -> Result<Vec<Tool>, ImportError> {
    let mut tools = Vec::new();
    let mut seen = HashSet::new();
    let mut cursor = None;
    let mut bytes = 0_usize;
    for pages in 1..=PAGES {
        let asked = PaginatedRequestParams::default().with_cursor(cursor.take());
        let page = peer
            .list_tools(Some(asked))
            .await
            .map_err(|error| ImportError::List(shortened(&error.to_string())))?;
        for tool in page.tools {
            bytes = bytes.saturating_add(size(&tool));
            tools.push(tool);
        }
        if tools.len() > TOOLS {
            return Err(ImportError::TooMany { limit: TOOLS });
        }
        if bytes > BYTES {
            return Err(ImportError::TooLarge { limit: BYTES });
        }
        match page.next_cursor {
            None => return Ok(tools),
            Some(next) if pages < PAGES && seen.insert(next.clone()) => cursor = Some(next),
            Some(next) => {
                let cursor = shortened(&next);
                return Err(ImportError::Endless { pages, cursor });
            }
        }
    }
    Ok(tools)
}

/// A tool as JSON text, in bytes.
pub(super) fn size(tool: &Tool) -> usize {
    // What cannot be written has not been read.
    serde_json::to_vec(tool).map_or(usize::MAX, |text| text.len())
}
