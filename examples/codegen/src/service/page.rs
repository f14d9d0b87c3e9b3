//! Serves the web page, with a nonce for its script and style.

use axum::http::header::{self, HeaderValue};
use axum::response::{Html, IntoResponse, Response};

use super::guard::hexadecimal;

const DOCUMENT: &str = include_str!("../page/page.html");
const STYLE: &str = include_str!("../page/style.css");

/// In the order in which they use each other.
const SCRIPTS: [&str; 6] = [
    include_str!("../page/dom.js"),
    include_str!("../page/stream.js"),
    include_str!("../page/questions.js"),
    include_str!("../page/log.js"),
    include_str!("../page/approvals.js"),
    include_str!("../page/main.js"),
];

/// The page, for one load: its script and its style run because they carry a word that was never used before.
///
/// # Errors
///
/// The operating system has no random numbers.
pub(super) fn answer() -> Result<Response, std::io::Error> {
    let nonce = hexadecimal()?;
    let script = format!("'use strict';\n{}", SCRIPTS.join("\n"));
    let page = DOCUMENT
        .replace("{nonce}", &nonce)
        .replace("{style}", STYLE)
        .replace("{script}", &script);
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src data:; \
         connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let mut response = Html(page).into_response();
    let policy = HeaderValue::from_str(&policy).map_err(std::io::Error::other)?;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    Ok(response)
}
