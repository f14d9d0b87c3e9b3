//! The tools of another MCP server as tools of a registry.
//!
//! | file | holds |
//! |---|---|
//! | `importer` | [`Importer`]: connects, lists the tools and imports them |
//! | `listed` | `tools/list`, page by page, within limits |
//! | `names` | valid, unique names |
//! | `convert` | one listed tool as a [`DynamicSpec`](contract_runtime::DynamicSpec), or why not |
//! | `imported` | [`Imported`]: the tools, their conditions, and those that were skipped |
//! | `connection` | the connection that the imported tools share, and how it ends |
//! | `ordered` | progress reports in order, before the result; servers of older revisions |
//! | `call` | one call: progress, cancellation, errors |
//! | `elicitation` | what a server asks during a call, put to the approver of the call |
//! | `result` | a `CallToolResult` as [`Content`](contract_runtime::Content) |
//! | `transport` | transports: a child process, a URL |
//! | `child` | a child process as a server, and how it ended |
//! | `error` | [`ImportError`] |
//! | `cause` | why a connection failed, from the errors of rmcp |

mod call;
mod cause;
mod child;
mod connection;
mod convert;
mod elicitation;
mod error;
mod imported;
mod importer;
mod listed;
mod names;
mod ordered;
mod result;
mod transport;

use rmcp::RoleClient;
use rmcp::transport::IntoTransport;

pub use child::ChildProcess;
pub use connection::Connection;
pub use error::ImportError;
pub use imported::{Imported, Skipped};
pub use importer::Importer;
pub use transport::command;
#[cfg(feature = "http-client")]
pub use transport::{HttpClient, http};
#[cfg(feature = "oauth")]
pub use transport::{OAuthClient, http_with_oauth};

/// Imports the tools of another server, with the settings of [`Importer::new`].
///
/// ```no_run
/// use contract_runtime::prelude::*;
/// use contract_mcp;
///
/// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let files = contract_mcp::import(contract_mcp::command(std::process::Command::new("file-server"))?)
///     .await?
///     .edit("delete_file", |tool| {
///         tool.pre("the file is a draft", |arguments| {
///             arguments.get("path").and_then(|path| path.as_str()).is_some_and(|path| path.ends_with(".draft"))
///         })
///     })?;
/// let registry = Registry::builder().with(files).prefix("files_").build()?;
/// # Ok(()) }
/// ```
///
/// The transport is any client transport of [`rmcp`]: [`command`] makes one of a child process, and a pair of a reader and
/// a writer is one.
///
/// # Errors
///
/// [`ImportError`].
pub async fn import<T, E, A>(transport: T) -> Result<Imported, ImportError>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    Importer::new().import(transport).await
}
