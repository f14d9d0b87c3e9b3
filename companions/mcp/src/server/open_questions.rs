//! The questions that clients have not answered yet, and who may answer them.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use contract_runtime::Registry;
use contract_runtime::approval::ApprovalRequest;
use hyper::http::request::Parts;
use parking_lot::Mutex;
use rmcp::model::Extensions;
use tokio::time::Instant;

use super::auth::Principal;
use super::call::{self, CallSession};

/// How many questions of either kind are open at once, fewer than half of those that a registry keeps, and how many of one principal
/// or session.
///
/// One more elicitation is denied. In 2026-07-28 a question is forgotten, and its call asks again: the oldest of its own client, or
/// else of the one with the most, so that nobody takes the places of those who have few.
const OPEN: usize = 400;
const OPEN_EACH: usize = 100;

/// Who is asked, and the only one who may answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Owner {
    Principal(Arc<str>),
    /// The client of a session over HTTP, where principals are not known.
    Session(Arc<str>),
    /// The one client of a pair of streams, or all those over HTTP that nobody tells apart.
    Anybody,
}

impl Owner {
    pub(super) fn of(extensions: &Extensions) -> Self {
        let parts = extensions.get::<Parts>();
        if let Some(principal) = parts.and_then(|parts| parts.extensions.get::<Principal>()) {
            return Self::Principal(principal.shared_id());
        }
        let session = call::session(extensions);
        session.map_or(Self::Anybody, CallSession::owner)
    }

    /// How many open questions it may have.
    fn limit(&self) -> usize {
        match self {
            Self::Principal(_) | Self::Session(_) => OPEN_EACH,
            Self::Anybody => OPEN,
        }
    }
}

/// The elicitations that are waited for, by who was asked.
#[derive(Clone, Default)]
pub(super) struct Elicitations(Arc<Mutex<HashMap<Owner, usize>>>);

impl Elicitations {
    /// Counts one more; `None` if too many are open.
    pub(super) fn begin(&self, owner: Owner) -> Option<OpenElicitation> {
        let mut open = self.0.lock();
        let all: usize = open.values().sum();
        let own = open.get(&owner).copied().unwrap_or(0);
        if all >= OPEN || own >= owner.limit() {
            return None;
        }
        open.insert(owner.clone(), own + 1);
        Some(OpenElicitation {
            owner,
            all: self.clone(),
        })
    }
}

/// An elicitation that is waited for.
pub(super) struct OpenElicitation {
    owner: Owner,
    all: Elicitations,
}

impl Drop for OpenElicitation {
    fn drop(&mut self) {
        let mut open = self.all.0.lock();
        if let Some(count) = open.get_mut(&self.owner) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.owner);
            }
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
        let is_over = |one: &SentQuestion| one.until <= Instant::now();
        while sent.front().is_some_and(is_over) {
            forget(registry, &mut sent, 0);
        }
        if let Some(place) = in_the_way(&sent, &owner) {
            forget(registry, &mut sent, place);
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

fn forget(registry: &Registry, sent: &mut VecDeque<SentQuestion>, place: usize) {
    if let Some(question) = sent.remove(place) {
        registry.withdraw(&question.request);
    }
}

/// The place of the question that has to be forgotten before one more is kept.
fn in_the_way(sent: &VecDeque<SentQuestion>, owner: &Owner) -> Option<usize> {
    let mut counts = HashMap::from([(owner, 1_usize)]);
    for one in sent {
        *counts.entry(&one.owner).or_default() += 1;
    }
    if counts[owner] > owner.limit() {
        return sent.iter().position(|one| one.owner == *owner);
    }
    if sent.len() < OPEN {
        return None;
    }
    let most = counts.values().copied().max()?;
    sent.iter().position(|one| counts[&one.owner] == most)
}
