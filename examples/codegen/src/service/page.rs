//! Serves the web page, with a nonce for its script and style (W3C, "Content Security Policy Level 3").

use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::response::{Html, IntoResponse as _, Response};

use crate::runs::RunId;

const DOCUMENT: &str = include_str!("../page/page.html");
const STYLE: &str = include_str!("../page/style.css");

/// The scripts, in the order in which they use each other.
const SCRIPTS: [&str; 5] = [
    include_str!("../page/dom.js"),
    include_str!("../page/stream.js"),
    include_str!("../page/log.js"),
    include_str!("../page/forms.js"),
    include_str!("../page/main.js"),
];

/// `GET /`: the page, for one load.
pub(super) async fn document() -> Response {
    let nonce = RunId::random().to_string();
    let page = DOCUMENT
        .replace("{nonce}", &nonce)
        .replace("{style}", STYLE)
        .replace("{script}", &SCRIPTS.join("\n"));
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src data:; \
         connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    ([(CONTENT_SECURITY_POLICY, policy)], Html(page)).into_response()
}
