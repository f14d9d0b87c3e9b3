//! Why a request is refused, and the challenge that says so.

use hyper::StatusCode;
use hyper::header::HeaderValue;

/// Why a request is refused; see [`Server::authorize`](crate::Server::authorize).
///
/// A client that is refused with a challenge (`WWW-Authenticate`) can ask its user for access and try again. Reasons are shown to
/// the client; do not put secrets into them.
///
/// ```
/// use contract_mcp::{Principal, Refusal, Server};
/// use contract_runtime::prelude::*;
///
/// let server = Server::new(Registry::builder().build()?).authorize(|credentials| async move {
///     match credentials.bearer() {
///         None => Err(Refusal::NoToken),
///         Some("of-ada") => Ok(Principal::new("ada")),
///         Some(_) => Err(Refusal::InvalidToken { reason: "the token is unknown".to_owned() }),
///     }
/// });
/// # let _ = server;
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It brings no token: 401 with a challenge.
    #[error("a token is needed")]
    NoToken,
    /// Its token is not valid here, such as one that has expired or was issued for another resource: 401 with a challenge.
    #[error("{reason}")]
    InvalidToken {
        /// Why, in one sentence.
        reason: String,
    },
    /// Its token does not reach far enough: 403 with a challenge.
    #[error("the token lacks a scope; `{scope}` is needed")]
    InsufficientScope {
        /// All scopes that are needed, separated by spaces.
        scope: String,
    },
    /// It is not allowed, and no other token would change that: 403.
    #[error("{reason}")]
    Forbidden {
        /// Why, in one sentence.
        reason: String,
    },
    /// It cannot be checked now, such as while the authorization server is down: 503.
    #[error("{reason}")]
    Unavailable {
        /// Why, in one sentence.
        reason: String,
    },
}

impl Refusal {
    pub(in crate::server) fn status(&self) -> StatusCode {
        match self {
            Self::NoToken | Self::InvalidToken { .. } => StatusCode::UNAUTHORIZED,
            Self::InsufficientScope { .. } | Self::Forbidden { .. } => StatusCode::FORBIDDEN,
            Self::Unavailable { .. } => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// The value of `WWW-Authenticate` (RFC 6750, section 3; RFC 9728, section 5.1).
    pub(in crate::server) fn challenge(&self, metadata: Option<&str>) -> Option<HeaderValue> {
        let mut fields = Vec::new();
        match self {
            Self::NoToken => {}
            Self::InvalidToken { reason } => {
                fields.push("error=\"invalid_token\"".to_owned());
                fields.push(field("error_description", reason));
            }
            Self::InsufficientScope { scope } => {
                fields.push("error=\"insufficient_scope\"".to_owned());
                fields.push(field("scope", scope));
            }
            Self::Forbidden { .. } | Self::Unavailable { .. } => return None,
        }
        fields.extend(metadata.map(|url| field("resource_metadata", url)));
        let value = if fields.is_empty() {
            "Bearer".to_owned()
        } else {
            format!("Bearer {}", fields.join(", "))
        };
        HeaderValue::try_from(value).ok()
    }
}

/// A field with the characters that RFC 6750, section 3, allows in its value.
fn field(name: &str, value: &str) -> String {
    let allowed = |c: char| matches!(c, ' '..='~') && c != '"' && c != '\\';
    let value: String = value.chars().filter(|c| allowed(*c)).collect();
    format!("{name}=\"{value}\"")
}
