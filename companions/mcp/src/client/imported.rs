use super::ImportError;
use super::connection::Connection;
use super::names::Names;
use crate::tool::arguments::nearest;
use crate::{Tool, ToolSet};

/// The tools of another server, ready for [`Builder::with`](crate::Builder::with).
///
/// The connection lives as long as one of them, or a [`Connection`], is held by anybody.
#[derive(Debug)]
#[must_use = "the tools are there when a registry has them"]
pub struct Imported {
    pub(super) tools: Vec<Tool>,
    pub(super) names: Names,
    pub(super) skipped: Vec<Skipped>,
    pub(super) connection: Connection,
}

/// A tool of another server that could not be taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// The server's name of it, shortened.
    pub name: String,
    /// Why, in a sentence.
    pub reason: String,
}

impl Imported {
    /// The names of the tools here, in the order of the server's list.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(Tool::name)
    }

    /// What the server calls the tool of this name.
    ///
    /// They differ where the server's name is not legal here: `_` stands for what is not allowed and before a digit or `-`
    /// at the beginning, and only the first 64 characters are kept.
    #[must_use]
    pub fn original(&self, name: &str) -> Option<&str> {
        self.names.theirs(name)
    }

    /// The tools that could not be taken over, such as those whose schema cannot be enforced.
    #[must_use]
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// Changes one tool: gives it conditions, or a policy.
    ///
    /// # Errors
    ///
    /// [`ImportError::NoSuchTool`] for a name that is not among [`names`](Self::names): a condition that is attached to
    /// nothing protects nobody.
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

    /// Changes all tools, such as by one condition for each.
    pub fn edit_all(mut self, edit: impl FnMut(Tool) -> Tool) -> Self {
        self.tools = self.tools.into_iter().map(edit).collect();
        self
    }

    /// A handle of the connection, by which it can be ended while tools still hold it.
    #[must_use]
    pub fn connection(&self) -> Connection {
        self.connection.clone()
    }

    /// Ends the connection; calls of the tools fail from now on.
    pub async fn close(self) {
        self.connection.close().await;
    }
}

impl ToolSet for Imported {
    fn into_tools(self) -> Vec<Tool> {
        self.tools
    }
}
