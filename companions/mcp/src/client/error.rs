//! Errors of an import.

use std::process::ExitStatus;
use std::time::Duration;

/// Why the tools of another server could not be imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The program of the server could not be started.
    #[error("cannot start `{program}`: {source}")]
    Start {
        /// The program as it was given.
        program: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The server's address could not be reached.
    #[error("cannot reach {}: {reason}; check the address, and that the server is running", address(url.as_deref()))]
    Unreachable {
        /// The address, without user, password and query.
        url: Option<String>,
        /// The error of the operating system, or what answers there instead.
        reason: String,
    },
    /// The address of the server is not an HTTP URL.
    #[error("the address of the server{} is not an HTTP URL: {reason}; write one such as `http://localhost:8000/mcp`", url_part(url.as_deref()))]
    InvalidUrl {
        /// The address, without user, password and query; `None` if it cannot be parsed.
        url: Option<String>,
        /// What is wrong with it.
        reason: String,
    },
    /// The server refused to authorise this client.
    #[error(
        "the server refused the connection with HTTP status {status} ({}); pass a token that it accepts with `HttpClient::from_config`",
        if *status == 401 { "unauthorized" } else { "forbidden" }
    )]
    Unauthorized {
        /// The status, 401 or 403.
        status: u16,
        /// What the server says about how to get access (`WWW-Authenticate`), which a login takes as
        /// `AuthorizationRequest::with_challenge`.
        challenge: Option<String>,
    },
    /// The server answered with an HTTP error.
    #[error(
        "the server answered with HTTP status {status}{}; {}",
        body_of(body),
        to_do_about(*status)
    )]
    HttpStatus {
        /// The status.
        status: u16,
        /// The beginning of the body; empty for status 429 and for 500 and above, whose body is not read.
        body: String,
    },
    /// The program of the server has ended.
    #[error("`{program}` ended before the connection was made ({status}){}; what it wrote to its standard error may say why", wrote(output.as_deref()))]
    Exited {
        /// The program as it was given.
        program: String,
        /// The exit status.
        status: ExitStatus,
        /// The first line of its standard output, if it is not a message of the protocol.
        output: Option<String>,
    },
    /// The peer is not a server of the Model Context Protocol.
    #[error("this is not a server of the Model Context Protocol: {found}")]
    NotMcp {
        /// What the peer sent instead.
        found: String,
    },
    /// The server refused the handshake.
    #[error("the server refused the handshake: {message} (code {code})")]
    Refused {
        /// The error code (JSON-RPC 2.0, section 5.1).
        code: i32,
        /// The message of the server.
        message: String,
    },
    /// The server closed the connection before its tools were known.
    #[error(
        "the server closed the connection before it had listed its tools; is it a server of the Model Context Protocol?"
    )]
    Closed,
    /// The server did not start as the protocol requires.
    #[error("the server did not start as the protocol requires: {0}")]
    Begin(String),
    /// The server was not ready in time, including its list of tools.
    #[error("the server was not ready after {0:?}; is it a server of the Model Context Protocol?")]
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
    /// The server lists more tools than are accepted.
    #[error("the server lists more than {limit} tools")]
    TooMany {
        /// The limit.
        limit: usize,
    },
    /// The list is too large.
    #[error("the server's list of tools is larger than {limit} bytes")]
    TooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
    /// Two tools of the server map to the same name.
    #[error("the server's tools `{first}` and `{second}` would both be named `{name}`")]
    Duplicate {
        /// The name they map to.
        name: String,
        /// The server's name of the first tool.
        first: String,
        /// The server's name of the second tool.
        second: String,
    },
    /// There is no imported tool with this name.
    #[error("the server has no tool named `{name}`{}", did_you_mean(nearest.as_deref()))]
    NoSuchTool {
        /// The name as it was given.
        name: String,
        /// A tool of a similar name.
        nearest: Option<String>,
    },
}

impl ImportError {
    /// Whether the connection failed, and not what was said over it.
    pub(super) fn is_of_the_connection(&self) -> bool {
        matches!(self, Self::Closed | Self::Begin(_))
    }
}

fn address(url: Option<&str>) -> String {
    url.map_or_else(|| "the server".to_owned(), |url| format!("`{url}`"))
}

fn url_part(url: Option<&str>) -> String {
    url.map_or_else(String::new, |url| format!(", `{url}`,"))
}

fn to_do_about(status: u16) -> &'static str {
    match status {
        429 | 503 => "try again later",
        500.. => "its own log may say why",
        _ => "check the address of the server",
    }
}

fn body_of(body: &str) -> String {
    if body.is_empty() {
        return String::new();
    }
    format!(" (`{body}`)")
}

fn wrote(output: Option<&str>) -> String {
    output.map_or_else(String::new, |line| {
        format!(" after it wrote `{line}` to its standard output")
    })
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| {
        format!("; did you mean `{nearest}`?")
    })
}
