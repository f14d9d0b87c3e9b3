//! Assembles one document from the files in `page/`.

use axum::http::header::{self, HeaderValue};
use axum::response::{Html, IntoResponse, Response};

const DOCUMENT: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");

/// In the order of their dependencies.
const SCRIPTS: [&str; 11] = [
    include_str!("page/json.js"),
    include_str!("page/dom.js"),
    include_str!("page/schema.js"),
    include_str!("page/editors.js"),
    include_str!("page/compound.js"),
    include_str!("page/form.js"),
    include_str!("page/clauses.js"),
    include_str!("page/outcome.js"),
    include_str!("page/approval.js"),
    include_str!("page/events.js"),
    include_str!("page/main.js"),
];

/// Renders the page for one load, with a new nonce for its script and its style.
///
/// # Errors
///
/// The operating system has no random numbers.
pub(super) fn answer() -> Result<Response, std::io::Error> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
    let nonce = format!("{:032x}", u128::from_be_bytes(bytes));
    let script = format!("'use strict';\n{}", SCRIPTS.join("\n"));
    let page = DOCUMENT
        .replace("{nonce}", &nonce)
        .replace("{style}", STYLE)
        .replace("{script}", &script);
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src blob: data:; \
         connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let mut response = Html(page).into_response();
    let policy = HeaderValue::from_str(&policy).map_err(std::io::Error::other)?;
    response
        .headers_mut()
        .insert(header::CONTENT_SECURITY_POLICY, policy);
    Ok(response)
}
