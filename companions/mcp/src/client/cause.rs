//! Turns errors of the protocol library into import errors.

use std::error::Error;
use std::io;

use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::DynamicTransportError;

use super::ImportError;
use super::names::shortened;

/// Converts an error of the handshake.
pub(super) fn of_handshake(error: ClientInitializeError) -> ImportError {
    match error {
        // The server was then asked in the way of the older revisions, and failed at that.
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => of_handshake(*fallback),
        ClientInitializeError::TransportError { error, .. } => of_transport(&error),
        ClientInitializeError::ConnectionClosed(_) => ImportError::Closed,
        ClientInitializeError::JsonRpcError(error) => ImportError::Refused {
            code: error.code.0,
            message: shortened(&error.message),
        },
        // Where the program ends after this, it is because the connection is closed.
        ClientInitializeError::ExpectedInitResponse(_)
        | ClientInitializeError::ExpectedInitResult(_) => ImportError::NotMcp {
            found: "its answer to the handshake does not follow the protocol".to_owned(),
        },
        ClientInitializeError::ConflictInitResponseId(expected, received)
        | ClientInitializeError::UncorrelatedErrorResponse { expected, received } => {
            let received = shortened(&received.to_string());
            ImportError::NotMcp {
                found: format!("it answered the request `{expected}` under the id `{received}`"),
            }
        }
        other => ImportError::Begin(shortened(&other.to_string())),
    }
}

/// Converts an error of a request for the list.
pub(super) fn of_list(error: &ServiceError) -> ImportError {
    match error {
        ServiceError::TransportSend(error) => of_transport(error),
        ServiceError::TransportClosed => ImportError::Closed,
        ServiceError::McpError(error) => {
            let (code, message) = (error.code.0, shortened(&error.message));
            ImportError::List(format!("it answered: {message} (code {code})"))
        }
        other => ImportError::List(shortened(&other.to_string())),
    }
}

/// Converts an error of the transport.
pub(super) fn of_transport(error: &DynamicTransportError) -> ImportError {
    let first: &(dyn Error + 'static) = error.error.as_ref();
    #[cfg(feature = "http-client")]
    if let Some(found) = chain(first).find_map(http::cause) {
        return found;
    }
    let broken = |error: &io::Error| {
        matches!(
            error.kind(),
            io::ErrorKind::BrokenPipe
                | io::ErrorKind::ConnectionReset
                | io::ErrorKind::NotConnected
                | io::ErrorKind::UnexpectedEof
        )
    };
    let mut io = chain(first).filter_map(|error| error.downcast_ref::<io::Error>());
    if io.any(broken) {
        return ImportError::Closed;
    }
    ImportError::Begin(root(first))
}

fn chain<'e>(
    first: &'e (dyn Error + 'static),
) -> impl Iterator<Item = &'e (dyn Error + 'static)> + Clone {
    std::iter::successors(Some(first), |error: &&'e (dyn Error + 'static)| {
        (*error).source()
    })
}

/// The root cause, as text.
fn root(first: &(dyn Error + 'static)) -> String {
    let root = chain(first).last().unwrap_or(first);
    shortened(&root.to_string())
}

#[cfg(feature = "http-client")]
mod http {
    use std::error::Error;

    use rmcp::transport::streamable_http_client::StreamableHttpError;

    use super::{ImportError, chain, root, shortened};

    type HttpError = StreamableHttpError<reqwest::Error>;

    /// Converts an error of the HTTP client.
    pub(super) fn cause(error: &(dyn Error + 'static)) -> Option<ImportError> {
        let not_mcp = |found: &str| ImportError::NotMcp {
            found: found.to_owned(),
        };
        Some(match error.downcast_ref::<HttpError>()? {
            HttpError::Client(client) => match client.status() {
                Some(status) => of_status(status.as_u16(), ""),
                None if client.is_builder() => ImportError::InvalidUrl {
                    url: client.url().map(redacted),
                    reason: root(client),
                },
                // The connection broke in the middle of a response.
                None if client.is_body() || client.is_decode() => ImportError::Closed,
                None => ImportError::Unreachable {
                    url: client.url().map(redacted),
                    reason: reason(client),
                },
            },
            HttpError::AuthRequired(error) => {
                unauthorized(401, Some(&error.www_authenticate_header))
            }
            HttpError::InsufficientScope(error) => {
                unauthorized(403, Some(&error.www_authenticate_header))
            }
            HttpError::HttpStatus(error) => of_status(error.status, ""),
            HttpError::UnexpectedServerResponse(text) => match status(text) {
                Some((status, body)) => of_status(status, body),
                None => not_mcp("its answer is not a JSON-RPC message"),
            },
            HttpError::UnexpectedContentType(Some(kind)) => {
                not_mcp(&format!("its answer is of type `{}`", shortened(kind)))
            }
            HttpError::UnexpectedContentType(None) => not_mcp("its answer has no content type"),
            HttpError::Deserialize(_) => not_mcp("its answer is not a JSON-RPC message"),
            HttpError::UnexpectedEndOfStream | HttpError::TransportChannelClosed => {
                ImportError::Closed
            }
            _ => return None,
        })
    }

    fn reason(client: &reqwest::Error) -> String {
        let is_no_http = |error: &(dyn Error + 'static)| {
            let error = error.downcast_ref::<hyper::Error>();
            error.is_some_and(hyper::Error::is_parse)
        };
        if chain(client).any(is_no_http) {
            return "what answers there is not HTTP; if it is TLS, write `https://`".to_owned();
        }
        let root = root(client);
        // What rustls says of bytes that are not a TLS record.
        if root.starts_with("received corrupt message of type InvalidContentType") {
            return "what answers there is not TLS; if it is plain HTTP, write `http://`"
                .to_owned();
        }
        root
    }

    /// The text that rmcp uses for the body of a response that broke off.
    const NOT_READ: &str = "<failed to read response body>";

    fn unauthorized(status: u16, challenge: Option<&String>) -> ImportError {
        let challenge = challenge.cloned();
        ImportError::Unauthorized { status, challenge }
    }

    fn of_status(status: u16, body: &str) -> ImportError {
        let body = if body == NOT_READ { "" } else { body };
        match status {
            401 | 403 => unauthorized(status, None),
            _ => ImportError::HttpStatus {
                status,
                body: shortened(body.trim()),
            },
        }
    }

    /// Status and body of an answer that rmcp gives as the text `HTTP 404 Not Found: no such page`.
    fn status(text: &str) -> Option<(u16, &str)> {
        let rest = text.strip_prefix("HTTP ")?;
        let status = rest.get(..3)?.parse().ok()?;
        let (_, body) = rest.split_once(": ").unwrap_or_default();
        Some((status, body))
    }

    /// A URL without what may be secret: a user's name and password, and the query.
    fn redacted(url: &reqwest::Url) -> String {
        let mut url = url.clone();
        // A URL that cannot have them has none.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_query(None);
        url.set_fragment(None);
        shortened(url.as_str())
    }
}
