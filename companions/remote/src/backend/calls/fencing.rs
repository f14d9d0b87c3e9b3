//! Whether this process still owns the task and may write how its calls end.

use super::Calls;
use crate::protocol::CallKey;
use crate::store::StoreError;
use crate::store::task_store::Ending;

/// Why calls in flight end, and no more are made.
pub(in crate::backend) const TAKEN_OVER: &str = "another backend took the task over";

impl Calls {
    /// Whether this process still owns the task.
    ///
    /// If not, its calls end for the callers that wait here; the new owner records what becomes of them.
    pub(in crate::backend) async fn is_owner(&self) -> Result<bool, StoreError> {
        if !self.is_taken_over() && !self.task_store.is_owner().await? {
            self.moved.cancel();
            self.state().executor = None;
            self.close(TAKEN_OVER);
        }
        Ok(!self.is_taken_over())
    }

    /// Whether it is known that another backend has taken the task over.
    pub(in crate::backend) fn is_taken_over(&self) -> bool {
        self.moved.is_cancelled()
    }

    /// Waits until it is known that another backend has taken the task over.
    pub(in crate::backend) async fn moved(&self) {
        self.moved.cancelled().await;
    }

    /// Whether this process may store an end: a known one always, an assumed one only as the owner.
    pub(super) async fn may_end(&self, key: CallKey, ending: &Ending) -> Result<bool, StoreError> {
        let is_known = match ending {
            Ending::Reply(_) | Ending::NotRun { .. } => true,
            Ending::Unknown { .. } | Ending::Cancelled { .. } => false,
        };
        if !is_known {
            return self.is_owner().await;
        }
        // A later owner may have pruned the call since.
        Ok(!self.is_taken_over() || self.task_store.stored_size(key).await?.is_some())
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::sync::Arc;
    use std::time::Duration;

    use contract_runtime::Progress;
    use serde_json::Map;
    use tokio::sync::mpsc;
    use tokio::time::timeout;

    use super::*;
    use crate::backend::calls::{AttemptOutcome, CallRequest};
    use crate::backend::listener::ListenerConfig;
    use crate::protocol::{BackendMessage, JournalId, TaskId};
    use crate::store::task_store::{Claim, Process, TaskStore};
    use crate::store::{EmbeddedStore, Store};

    const SOON: Duration = Duration::from_secs(30);

    fn process(backend: &str) -> Process {
        Process {
            backend: backend.to_owned(),
            run: "1".to_owned(),
            url: String::new(),
        }
    }

    fn request() -> CallRequest {
        CallRequest {
            call_id: String::new(),
            tool_name: "mark".to_owned(),
            parameters: Map::new(),
            idempotent: true,
            idempotency_key: None,
            until: None,
            progress: Progress::default(),
            log: contract_runtime::Log::default(),
        }
    }

    /// No message says so: it reads the store.
    #[tokio::test]
    async fn an_earlier_home_sends_no_call_and_guesses_no_end() {
        let store = EmbeddedStore::in_memory().expect("a thread");
        let task = TaskId::random();
        let [mut one, mut other] =
            [(); 2].map(|()| TaskStore::new(Arc::new(store.clone()) as _, task));
        let claimed = one.claim_ownership(&process("one"), None).await;
        assert_eq!(claimed.unwrap(), Claim::Owner { before: None });
        let listener = ListenerConfig::default().open((Ipv4Addr::LOCALHOST, 0).into());
        let calls = Calls::new(one, Duration::from_secs(3600), Arc::new(listener));
        let (out, mut said) = mpsc::channel(64);
        assert!(calls.attach(out, JournalId::random(), Vec::new()));
        let earlier = Arc::clone(&calls);
        let under_way = tokio::spawn(async move { earlier.call(request()).await });
        let sent = timeout(SOON, said.recv()).await.expect("a call");
        assert!(matches!(sent, Some(BackendMessage::RunTool(_))), "{sent:?}");

        let claimed = other.claim_ownership(&process("other"), None).await;
        assert_ne!(claimed.unwrap(), Claim::Lost);
        let outcome = timeout(SOON, calls.call(request())).await.expect("an end");
        assert!(
            matches!(&outcome, AttemptOutcome::NotRun(why) if why == TAKEN_OVER),
            "{outcome:?}"
        );
        let outcome = timeout(SOON, under_way).await.expect("an end").unwrap();
        assert!(
            matches!(&outcome, AttemptOutcome::InDoubt(why) if why == TAKEN_OVER),
            "{outcome:?}"
        );
        assert!(said.try_recv().is_err(), "nothing more is said");
        let written = async {
            while store.list(task, "ending.").await.unwrap().is_empty() {
                tokio::task::yield_now().await;
            }
        };
        timeout(SOON, written).await.expect("its end");
        let endings = store.list(task, "ending.").await.unwrap();
        assert!(
            endings[0].1.value.starts_with(r#"{"not_run""#),
            "{endings:?}"
        );
        assert_eq!(endings.len(), 1);
        // The call that was sent is open for the new owner; the other one was not made.
        assert_eq!(other.calls().await.unwrap().open.len(), 1);
        let (out, _said) = mpsc::channel(64);
        assert!(!calls.attach(out, JournalId::random(), Vec::new()));
    }
}
