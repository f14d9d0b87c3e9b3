//! Who sends a request.

use std::fmt;
use std::sync::Arc;

use contract_runtime::Context;
use hyper::header::{AUTHORIZATION, HeaderMap};

/// What a request shows to prove who sends it; see [`Server::authorize`](crate::Server::authorize).
#[derive(Clone)]
pub struct Credentials(HeaderMap);

impl Credentials {
    pub(in crate::server) fn new(headers: &HeaderMap) -> Self {
        Self(headers.clone())
    }

    /// Returns the bearer token of the `Authorization` header (RFC 6750, section 2.1), if there is exactly one such header and the
    /// token is written as that section demands.
    #[must_use]
    pub fn bearer(&self) -> Option<&str> {
        let mut values = self.0.get_all(AUTHORIZATION).iter();
        let value = values.next()?.to_str().ok()?;
        let (scheme, token) = value.split_once(' ')?;
        let token = token.trim_matches(' ');
        let is_bearer = scheme.eq_ignore_ascii_case("bearer") && is_token(token);
        (is_bearer && values.next().is_none()).then_some(token)
    }

    /// Returns all headers of the request.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.0
    }
}

/// Whether a text is a `b64token` of RFC 6750, section 2.1, which is a `token68` of RFC 7235.
fn is_token(text: &str) -> bool {
    let token = text.trim_end_matches('=');
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte);
    !token.is_empty() && token.bytes().all(allowed)
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The values are secrets.
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}

/// Who sends a request, and the context that this gives to its calls.
///
/// ```
/// use contract_mcp::Principal;
/// use contract_runtime::Context;
///
/// struct User(u64);
///
/// let ada = Principal::new("user-7").context(Context::new().with(User(7)));
/// assert_eq!(ada.id(), "user-7");
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Principal {
    id: Arc<str>,
    context: Context,
}

impl Principal {
    /// Creates a principal with an id that nobody else has, such as the issuer and the subject of a token.
    ///
    /// A session belongs to the id that began it, and a question to the id that was asked, so it must stay the same when a token is renewed.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self {
            id: id.into(),
            context: Context::new(),
        }
    }

    /// Sets the context of its calls.
    pub fn context(mut self, context: Context) -> Self {
        self.context = context;
        self
    }

    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    pub(in crate::server) fn shared_id(&self) -> Arc<str> {
        Arc::clone(&self.id)
    }

    pub(in crate::server) fn of_calls(&self) -> &Context {
        &self.context
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[&str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, value.parse().unwrap());
        }
        Credentials::new(&headers).bearer().map(str::to_owned)
    }

    #[test]
    fn a_bearer_token_is_read_from_one_header_of_that_scheme() {
        assert_eq!(of(&["Bearer abc"]).as_deref(), Some("abc"));
        assert_eq!(of(&["bearer  abc "]).as_deref(), Some("abc"));
        let odd = "Bearer aZ0-._~+/==";
        assert_eq!(of(&[odd]).as_deref(), odd.strip_prefix("Bearer "));
        for wrong in [
            &["Bearer a,b"][..],
            &["Bearer a b"],
            &["Bearer a\tb"],
            &["Bearer =="],
            &["Bearer a=b"],
            &["Bearer \"a\""],
            &[],
            &["Basic abc"],
            &["Bearer"],
            &["Bearer "],
            &["Bearer a", "Bearer b"],
        ] {
            assert_eq!(of(wrong), None, "{wrong:?}");
        }
    }
}
