use std::time::Duration;

/// Why the tools of another server could not be taken over.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The program of the server could not be started.
    #[error("cannot start `{program}`: {source}")]
    Start {
        /// The program as it was given.
        program: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The server did not begin as the protocol asks.
    #[error("the server did not begin as the protocol asks: {0}")]
    Begin(String),
    /// The server was not ready in time, its list of tools included.
    #[error("the server was not ready after {0:?}; is it one of the Model Context Protocol?")]
    Timeout(Duration),
    /// The server did not list its tools.
    #[error("the server did not list its tools: {0}")]
    List(String),
    /// The list never ends: a cursor came twice, or there are too many pages.
    #[error(
        "the server's list of tools does not end: after {pages} pages the cursor is `{cursor}`"
    )]
    Endless {
        /// How many pages were read.
        pages: usize,
        /// The last cursor, shortened.
        cursor: String,
    },
    /// The server has more tools than anybody could use.
    #[error("the server lists more than {limit} tools")]
    TooMany {
        /// How many are taken.
        limit: usize,
    },
    /// The list is too large.
    #[error("the server's list of tools is larger than {limit} bytes")]
    TooLarge {
        /// How many bytes are taken.
        limit: usize,
    },
    /// Two tools of the server have one name here.
    #[error("the server's tools `{first}` and `{second}` would both be named `{name}`")]
    Duplicate {
        /// The name here.
        name: String,
        /// The server's name of the one.
        first: String,
        /// The server's name of the other.
        second: String,
    },
    /// There is no imported tool of this name.
    #[error("the server has no tool named `{name}`{}", did_you_mean(nearest.as_deref()))]
    NoSuchTool {
        /// The name as it was given.
        name: String,
        /// A tool of a similar name.
        nearest: Option<String>,
    },
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| {
        format!("; did you mean `{nearest}`?")
    })
}
