//! Redacts secrets from errors, logs and spans.

/// Texts that must not be shown, such as keys.
#[derive(Clone, Default)]
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    pub(super) fn add(&mut self, text: &str) {
        if !text.is_empty() {
            self.0.push(text.to_owned());
            // The longest first, so that none is left in part.
            self.0.sort_by_key(|text| std::cmp::Reverse(text.len()));
        }
    }

    /// A text without them.
    pub(super) fn hide(&self, text: &str) -> String {
        let hide = |shown: String, secret: &String| shown.replace(secret, "***");
        self.0.iter().fold(text.to_owned(), hide)
    }
}

/// What of an endpoint people may see: neither a password nor a query.
pub(super) fn without_secrets(endpoint: &str) -> String {
    let base = endpoint.split(['?', '#']).next().unwrap_or_default();
    let rest = base.split_once("://").map_or(base, |(_, rest)| rest);
    let scheme = base.strip_suffix(rest).unwrap_or_default();
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    format!("{scheme}{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::{Secrets, without_secrets};

    #[test]
    fn an_endpoint_is_shown_without_password_and_query() {
        assert_eq!(
            without_secrets("https://me:word@host:1/v1?key=abc"),
            "https://host:1/v1"
        );
        assert_eq!(without_secrets("https://me:word@host"), "https://host");
        assert_eq!(without_secrets("me:word@host/v1"), "host/v1");
    }

    #[test]
    fn a_secret_inside_of_another_leaves_no_rest() {
        let mut secrets = Secrets::default();
        secrets.add("abc");
        secrets.add("abcdef");
        secrets.add("");
        assert_eq!(secrets.hide("key abcdef, abc"), "key ***, ***");
    }
}
