//! The result of an import: the tools, their original names and those that were skipped.

use contract_runtime::__family::nearest;
use contract_runtime::{Tool, ToolSet};

use super::ImportError;
use super::connection::Connection;
use super::names::Names;

/// The tools of another server, ready for [`Builder::with`](contract_runtime::Builder::with).
///
/// The connection lives until the last of them, and the last [`Connection`], is dropped.
///
/// ```
/// use contract_mcp::Server;
/// use contract_runtime::prelude::*;
///
/// /// Ring the bell.
/// #[tool]
/// fn ring() {}
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // Somebody else's server.
/// let theirs = Server::new(Registry::builder().tool(ring).build()?);
/// let (ours, far) = tokio::io::duplex(64 * 1024);
/// let (read, write) = tokio::io::split(far);
/// tokio::spawn(theirs.streams(read, write));
///
/// let imported = contract_mcp::import(tokio::io::split(ours)).await?;
/// assert_eq!(imported.names().collect::<Vec<_>>(), ["ring"]);
/// assert!(imported.skipped().is_empty());
/// let connection = imported.connection();
/// let registry = Registry::builder().with(imported).build()?;
/// assert!(registry.call(ToolCall::new("1", "ring", "")).await.is_ok());
///
/// connection.close().await;
/// let outcome = registry.call(ToolCall::new("2", "ring", "")).await;
/// assert!(outcome.error().unwrap().starts_with("the server has disconnected"));
/// # Ok(()) }
/// ```
#[derive(Debug)]
#[must_use = "imported tools do nothing until a registry has them"]
pub struct Imported {
    pub(super) tools: Vec<Tool>,
    pub(super) names: Names,
    pub(super) skipped: Vec<Skipped>,
    pub(super) connection: Connection,
}

/// A tool of another server that could not be imported.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// The server's name of the tool, shortened.
    pub name: String,
    /// The reason, as a sentence.
    pub reason: String,
}

impl Imported {
    /// Returns the names of the imported tools, in the order of the server's list.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(Tool::name)
    }

    /// Returns the server's name of the tool with this name.
    ///
    /// They differ if the server's name is not valid here: characters that are not allowed become `_`, a leading digit or `-` is
    /// preceded by `_`, and only the first 64 characters are kept.
    #[must_use]
    pub fn original(&self, name: &str) -> Option<&str> {
        self.names.theirs(name)
    }

    /// Returns the tools that could not be imported, such as those whose schema cannot be enforced.
    #[must_use]
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// Changes one tool: adds conditions, or sets a policy.
    ///
    /// # Errors
    ///
    /// [`ImportError::NoSuchTool`] for a name that is not among [`names`](Self::names).
    pub fn edit(
        mut self,
        name: &str,
        edit: impl FnOnce(Tool) -> Tool,
    ) -> Result<Self, ImportError> {
        match self.tools.iter_mut().find(|tool| tool.name() == name) {
            Some(tool) => *tool = edit(tool.clone()),
            None => {
                return Err(ImportError::NoSuchTool {
                    name: name.to_owned(),
                    nearest: nearest(name, self.names()).map(str::to_owned),
                });
            }
        }
        Ok(self)
    }

    /// Changes all tools, for example by adding a condition to each.
    pub fn edit_all(mut self, edit: impl FnMut(Tool) -> Tool) -> Self {
        self.tools = self.tools.into_iter().map(edit).collect();
        self
    }

    /// Returns a handle to the connection, which can close it while tools still use it.
    #[must_use]
    pub fn connection(&self) -> Connection {
        self.connection.clone()
    }

    /// Closes the connection; later calls of the tools fail.
    pub async fn close(self) {
        self.connection.close().await;
    }
}

impl ToolSet for Imported {
    fn into_tools(self) -> Vec<Tool> {
        self.tools
    }
}
