//! Reads the paginated tool list of a server, within limits.

use std::collections::HashSet;

use rmcp::model::{
    ClientRequest, CustomResult, ListToolsRequest, PaginatedRequestParams, ServerResult, Tool,
};
use rmcp::service::{Peer, RoleClient};
use serde::Deserialize;
use serde_json::Value;

use super::imported::Skipped;
use super::names::shortened;
use super::{ImportError, cause};

/// The most tools of one server.
const TOOLS: usize = 10_000;
/// The most pages of one list, at one tool a page.
const PAGES: usize = TOOLS + 1;
/// The maximum size of the list as JSON text, in bytes.
const BYTES: usize = 64 << 20;

/// What a server listed.
#[derive(Debug, Default)]
pub(super) struct ToolListing {
    pub(super) tools: Vec<Tool>,
    /// Items that are not tools.
    pub(super) unreadable: Vec<Skipped>,
}

/// A page with an item that is not a tool.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    tools: Vec<Value>,
    #[serde(default)]
    next_cursor: Option<String>,
}

/// Reads the whole list of a server.
pub(super) async fn all(peer: &Peer<RoleClient>) -> Result<ToolListing, ImportError> {
    let mut listed = ToolListing::default();
    let mut seen = HashSet::new();
    let mut cursor = None;
    let mut bytes = 0_usize;
    for pages in 1..=PAGES {
        let asked = PaginatedRequestParams::default().with_cursor(cursor.take());
        let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(asked));
        let page = peer
            .send_request(request)
            .await
            .map_err(|error| cause::of_list(&error))?;
        let next = match page {
            ServerResult::ListToolsResult(page) => {
                for tool in page.tools {
                    bytes = bytes.saturating_add(size(&tool));
                    listed.tools.push(tool);
                }
                page.next_cursor
            }
            ServerResult::CustomResult(CustomResult(page)) => {
                bytes = bytes.saturating_add(page.to_string().len());
                listed.one_by_one(page)?
            }
            _ => return Err(no_list()),
        };
        if listed.tools.len() + listed.unreadable.len() > TOOLS {
            return Err(ImportError::TooMany { limit: TOOLS });
        }
        if bytes > BYTES {
            return Err(ImportError::TooLarge { limit: BYTES });
        }
        match next {
            None => return Ok(listed),
            Some(next) if pages < PAGES && seen.insert(next.clone()) => cursor = Some(next),
            Some(next) => {
                let cursor = shortened(&next);
                return Err(ImportError::Endless { pages, cursor });
            }
        }
    }
    Ok(listed)
}

impl ToolListing {
    /// Takes the readable tools of a page, and returns its cursor.
    fn one_by_one(&mut self, page: Value) -> Result<Option<String>, ImportError> {
        let page: Page = serde_json::from_value(page).map_err(|_| no_list())?;
        for tool in page.tools {
            let name = tool.get("name").and_then(Value::as_str).map(shortened);
            match serde_json::from_value(tool) {
                Ok(tool) => self.tools.push(tool),
                Err(error) => {
                    let error = shortened(&error.to_string());
                    self.unreadable.push(Skipped {
                        name: name.unwrap_or_default(),
                        reason: format!("it is not a tool of the protocol: {error}"),
                    });
                }
            }
        }
        Ok(page.next_cursor)
    }
}

fn no_list() -> ImportError {
    ImportError::List("its answer is not a list of tools".to_owned())
}

/// A tool as JSON text, in bytes.
pub(super) fn size(tool: &Tool) -> usize {
    // It was read from JSON, so it can be written.
    serde_json::to_vec(tool).map_or(usize::MAX, |text| text.len())
}
