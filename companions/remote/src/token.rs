//! The token that authenticates an executor.

use std::fmt;
use std::sync::Arc;

use uuid::Uuid;

/// The token with which an executor authenticates for its task: 122 random bits, as text.
///
/// ```
/// use contract_remote::Token;
///
/// let token = Token::from("8d3f…");
/// assert_eq!(token.reveal(), "8d3f…");
/// assert_eq!(format!("{token:?}"), "Token(..)");
/// ```
#[derive(Clone)]
pub struct Token(Arc<str>);

impl Token {
    pub(super) fn random() -> Self {
        Self(Uuid::new_v4().simple().to_string().into())
    }

    /// Returns the text, to hand it to the executor; it belongs in no log and in no address.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Token {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Token {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}
