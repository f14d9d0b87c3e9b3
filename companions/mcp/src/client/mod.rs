//! The tools of another server, as tools of ours.
//!
//! | file | holds |
//! |---|---|
//! | `importer` | [`Importer`]: the connection is made, the tools are listed and taken over |
//! | `listed` | `tools/list`, page by page, within bounds |
//! | `names` | names that are legal here |
//! | `draft` | schemas of draft-07, as far as they differ in a name |
//! | `taken` | one listed tool as a [`DynamicSpec`](crate::DynamicSpec), or why not |
//! | `imported` | [`Imported`]: the set, its conditions, what was left out |
//! | `connection` | what every imported tool holds on to, and how it ends |
//! | `ordered` | reports of progress, heard before the result that follows them; servers of older revisions |
//! | `call` | one call: progress, cancellation, errors |
//! | `result` | a `CallToolResult` as [`Content`](crate::Content) |
//! | `error` | [`ImportError`] |

mod call;
mod connection;
mod draft;
mod error;
mod imported;
mod importer;
mod listed;
mod names;
mod ordered;
mod result;
mod taken;
mod transport;

use rmcp::RoleClient;
use rmcp::transport::IntoTransport;

pub use connection::Connection;
pub use error::ImportError;
pub use imported::{Imported, Skipped};
pub use importer::Importer;
pub use transport::{ChildProcess, command};
#[cfg(feature = "mcp-http")]
pub use transport::{HttpClient, http};

/// Takes over the tools of another server, with the settings of [`Importer::new`].
///
/// ```no_run
/// use contract_runtime::prelude::*;
/// use contract_runtime::mcp;
///
/// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let files = mcp::import(mcp::command(std::process::Command::new("file-server"))?)
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
