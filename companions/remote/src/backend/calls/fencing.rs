use super::Calls;
use crate::remote::protocol::CallKey;
use crate::remote::store::StoreError;
use crate::remote::store::ledger::Ending;

/// Why calls end that were under way, and no more are made.
pub(in crate::remote::backend) const TAKEN_OVER: &str = "another backend took the task over";

impl Calls {
    /// Whether the calls of the task are made here still.
    ///
    /// Once another backend has taken it over they end for those who wait for them, and what becomes of them is said there.
    pub(in crate::remote::backend) async fn is_home(&self) -> Result<bool, StoreError> {
        if !self.has_moved() && !self.ledger.is_home().await? {
            self.moved.cancel();
            self.state().line = None;
            self.close(TAKEN_OVER);
        }
        Ok(!self.has_moved())
    }

    /// Whether it is known here that another backend has taken the task over.
    pub(in crate::remote::backend) fn has_moved(&self) -> bool {
        self.moved.is_cancelled()
    }

    /// Waits until it is known here that another backend has taken the task over.
    pub(in crate::remote::backend) async fn moved(&self) {
        self.moved.cancelled().await;
    }

    /// Whether an end may be written from here: what is known, by anybody; what is only supposed, by the home.
    pub(super) async fn may_end(&self, key: CallKey, ending: &Ending) -> Result<bool, StoreError> {
        let is_known = match ending {
            Ending::Reply(_) | Ending::NotRun { .. } => true,
            Ending::Unknown { .. } | Ending::Cancelled { .. } => false,
        };
        if !is_known {
            return self.is_home().await;
        }
        // A later home may have dropped the call since.
        Ok(!self.has_moved() || self.ledger.begun(key).await?.is_some())
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::sync::Arc;
    use std::time::Duration;

    use serde_json::Map;
    use tokio::sync::mpsc;
    use tokio::time::timeout;

    use super::*;
    use crate::Progress;
    use crate::remote::backend::calls::{Asked, Came};
    use crate::remote::backend::entry::Entry;
    use crate::remote::protocol::{BackendMessage, JournalId, TaskId};
    use crate::remote::store::ledger::Ledger;
    use crate::remote::store::{EmbeddedStore, Store};

    const SOON: Duration = Duration::from_secs(30);

    fn asked() -> Asked {
        Asked {
            call_id: String::new(),
            tool_name: "mark".to_owned(),
            parameters: Map::new(),
            idempotent: true,
            until: None,
            progress: Progress::default(),
        }
    }

    /// No letter tells it: it looks by itself.
    #[tokio::test]
    async fn an_earlier_home_sends_no_call_and_guesses_no_end() {
        let store = EmbeddedStore::in_memory().expect("a thread");
        let task = TaskId::random();
        let [mut one, mut other] =
            [(); 2].map(|()| Ledger::new(Arc::new(store.clone()) as _, task));
        one.claim_home("one", "1").await.unwrap();
        let entrance = Entry::default().open((Ipv4Addr::LOCALHOST, 0).into());
        let calls = Calls::new(one, Duration::from_secs(3600), Arc::new(entrance));
        let (out, mut said) = mpsc::channel(64);
        assert!(calls.attached(out, JournalId::random(), Vec::new()));
        let earlier = Arc::clone(&calls);
        let under_way = tokio::spawn(async move { earlier.call(asked()).await });
        let sent = timeout(SOON, said.recv()).await.expect("a call");
        assert!(matches!(sent, Some(BackendMessage::RunTool(_))), "{sent:?}");

        other.claim_home("other", "1").await.unwrap();
        let came = timeout(SOON, calls.call(asked())).await.expect("an end");
        assert!(
            matches!(&came, Came::NotRun(why) if why == TAKEN_OVER),
            "{came:?}"
        );
        let came = timeout(SOON, under_way).await.expect("an end").unwrap();
        assert!(
            matches!(&came, Came::InDoubt(why) if why == TAKEN_OVER),
            "{came:?}"
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
        // The call that was sent is open for the new home; the other one was not made.
        assert_eq!(other.calls().await.unwrap().open.len(), 1);
        let (out, _said) = mpsc::channel(64);
        assert!(!calls.attached(out, JournalId::random(), Vec::new()));
    }
}
