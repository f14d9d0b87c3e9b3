//! Finds out who sends a request, and tells clients where to get access.

use http_body_util::Full;
use http_body_util::combinators::BoxBody;
use hyper::body::Bytes;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_ORIGIN, ALLOW, CONTENT_TYPE, HeaderValue,
    WWW_AUTHENTICATE,
};
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode};

use super::super::auth::{Authorizer, Credentials, Principal, Refusal, ServedMetadata};
use super::super::guarded::guarded;
use super::service::{HttpResponse, text_response};

const PANICKED: &str =
    "it could not be checked who sends this request; this is a fault of the server";

/// Who may send requests, and what clients are told about it.
pub(super) struct Authorization {
    pub(super) check: Option<Authorizer>,
    pub(super) metadata: Option<ServedMetadata>,
}

impl Authorization {
    /// Answers a request for the metadata, which anybody may read, also a page of any origin.
    pub(super) fn metadata(&self, request: &Parts) -> Option<HttpResponse> {
        let metadata = self.metadata.as_ref()?;
        if !metadata.are_at(request.uri.path()) {
            return None;
        }
        let (status, body) = match request.method {
            Method::GET => (StatusCode::OK, metadata.document.clone()),
            Method::OPTIONS => (StatusCode::NO_CONTENT, Bytes::new()),
            _ => (StatusCode::METHOD_NOT_ALLOWED, Bytes::new()),
        };
        let mut answer = Response::new(BoxBody::new(Full::new(body)));
        *answer.status_mut() = status;
        let headers = answer.headers_mut();
        let any = HeaderValue::from_static("*");
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, any.clone());
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, any);
        headers.insert(ALLOW, HeaderValue::from_static("GET, OPTIONS"));
        if status == StatusCode::OK {
            let json = HeaderValue::from_static("application/json");
            headers.insert(CONTENT_TYPE, json);
        }
        Some(answer)
    }

    /// Who sends a request, if that is checked; the error is the answer to one that is refused.
    pub(super) async fn principal(
        &self,
        request: &Parts,
    ) -> Result<Option<Principal>, HttpResponse> {
        let Some(check) = &self.check else {
            return Ok(None);
        };
        let credentials = Credentials::new(&request.headers);
        match guarded(|| check(credentials)).await {
            Ok(Ok(principal)) => Ok(Some(principal)),
            Ok(Err(refusal)) => Err(self.refused(&refusal)),
            Err(_) => Err(text_response(StatusCode::INTERNAL_SERVER_ERROR, PANICKED)),
        }
    }

    fn refused(&self, refusal: &Refusal) -> HttpResponse {
        let mut answer = text_response(refusal.status(), refusal.to_string());
        let metadata = self.metadata.as_ref().map(|metadata| &*metadata.url);
        if let Some(challenge) = refusal.challenge(metadata) {
            answer.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
        answer
    }
}
