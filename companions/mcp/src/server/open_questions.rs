//! The questions that clients have not answered yet, and who may answer them.

use std::collections::VecDeque;
use std::sync::Arc;

use contract_runtime::{ApprovalRequest, Registry};
use hyper::http::request::Parts;
use parking_lot::Mutex;
use rmcp::model::Extensions;
use tokio::time::Instant;

use super::auth::Principal;

/// How many questions of either kind are open at once, fewer than half of those that a registry keeps. One more elicitation is
/// denied; in 2026-07-28 the oldest question is forgotten, and its call asks again.
pub(super) const OPEN: usize = 400;

/// Who is asked, and the only one who may answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Principal(Arc<str>),
    /// The one client of a pair of streams, or all those over HTTP that nobody tells apart.
    Anybody,
}

impl Owner {
    pub(super) fn of(extensions: &Extensions) -> Self {
        let parts = extensions.get::<Parts>();
        match parts.and_then(|parts| parts.extensions.get::<Principal>()) {
            Some(principal) => Self::Principal(principal.shared_id()),
            None => Self::Anybody,
        }
    }
}

/// The questions that were sent as results of calls.
#[derive(Default)]
pub(super) struct SentQuestions(Mutex<VecDeque<SentQuestion>>);

struct SentQuestion {
    owner: Owner,
    request: ApprovalRequest,
    /// Until when its answer is taken.
    until: Instant,
}

impl SentQuestions {
    /// Keeps a question, for which others are taken back in the registry that asks.
    pub(super) fn put(
        &self,
        registry: &Registry,
        owner: Owner,
        request: ApprovalRequest,
        until: Instant,
    ) {
        let mut sent = self.0.lock();
        while let Some(oldest) = sent.front()
            && (sent.len() >= OPEN || oldest.until <= Instant::now())
        {
            registry.withdraw(&oldest.request);
            sent.pop_front();
        }
        sent.push_back(SentQuestion {
            owner,
            request,
            until,
        });
    }

    /// Takes the question of this id, if there is one that this client may answer and it is not too late.
    pub(super) fn take(&self, id: &str, owner: &Owner) -> Option<ApprovalRequest> {
        let mut sent = self.0.lock();
        let is_meant = |one: &SentQuestion| one.request.id == id && one.owner == *owner;
        let place = sent.iter().position(is_meant)?;
        let question = sent.remove(place)?;
        (Instant::now() < question.until).then_some(question.request)
    }
}
