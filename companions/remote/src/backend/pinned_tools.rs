//! The tools of a task: those of its first executor, for as long as there is the task.

use std::sync::Arc;

use super::session::{Session, fit_to_show};
use super::task::Open;
use crate::remote::protocol::{Finished, Handshake};
use crate::remote::store::StoreError;
use crate::remote::store::ledger::Found;
use crate::remote::toolbelt::Toolbelt;

/// Why an executor is sent away that has changed.
pub(super) const OTHERS: &str = "the tools of a task do not change, and these are others";

/// Names of tools that are looked up at once. Whoever brings more, or tools of its own, is judged beside the work of others:
/// 128 tools with 50 rules each take 0.4 s (two cores, release build, November 2026).
const AT_ONCE: usize = 16;

/// What an earlier process has left of a task.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) settled: Option<Toolbelt>,
    pub(super) finished: Option<Finished>,
    pub(super) calls: Found,
}

impl Open {
    /// The session of a handshake, which is given back.
    pub(super) async fn judge(
        self: &Arc<Self>,
        handshake: Handshake,
    ) -> Result<(Handshake, Session), String> {
        if is_quick(&handshake) {
            let session = self.take(&handshake)?;
            return Ok((handshake, session));
        }
        let open = Arc::clone(self);
        let judged = tokio::task::spawn_blocking(move || {
            let session = open.take(&handshake)?;
            Ok((handshake, session))
        });
        let stopping = |_| Err("the backend is stopping".to_owned());
        judged.await.unwrap_or_else(stopping)
    }

    fn take(self: &Arc<Self>, handshake: &Handshake) -> Result<Session, String> {
        let taken = self.toolbelt_of(handshake);
        let other = |settled: &Arc<Toolbelt>| !settled.same_tools(&taken);
        if self.settled.get().is_some_and(other) {
            return Err(OTHERS.to_owned());
        }
        let there = self.session.borrow().clone();
        match there {
            Some(session) => Ok(session),
            None => Session::new(self, Arc::new(taken), &handshake.platform)
                .map_err(|error| error.to_string()),
        }
    }

    fn toolbelt_of(&self, handshake: &Handshake) -> Toolbelt {
        Toolbelt::of(handshake, &self.settings.known, &self.settings.limits)
    }

    /// Whether the tools of a session are those of the task; the first are written down, and stand.
    pub(super) async fn settle(
        self: &Arc<Self>,
        handshake: &Handshake,
        session: &Session,
    ) -> Result<bool, StoreError> {
        // They were compared when they were judged.
        if self.settled.get().is_some() {
            return Ok(true);
        }
        let brought = taken_of(handshake, session.toolbelt());
        let stands = self.calls.ledger.settle(&brought).await?;
        let same = stands.known_tools == brought.known_tools
            && stands.custom_tools == brought.custom_tools;
        if !same
            && !self
                .judge_kept(stands)
                .await?
                .same_tools(session.toolbelt())
        {
            return Ok(false);
        }
        self.settled.get_or_init(|| Arc::clone(&session.toolbelt));
        Ok(true)
    }

    /// A store is trusted no more than a line.
    async fn judge_kept(self: &Arc<Self>, handshake: Handshake) -> Result<Toolbelt, StoreError> {
        if is_quick(&handshake) {
            return Ok(self.toolbelt_of(&handshake));
        }
        let open = Arc::clone(self);
        let judged = tokio::task::spawn_blocking(move || open.toolbelt_of(&handshake));
        judged.await.map_err(|_| StoreError::Closed)
    }

    /// What an earlier process has left of the task.
    pub(super) async fn kept(self: &Arc<Self>) -> Result<Kept, StoreError> {
        let ledger = &self.calls.ledger;
        let settled = match ledger.handshake().await? {
            Some(handshake) => Some(self.judge_kept(handshake).await?),
            None => None,
        };
        Ok(Kept {
            settled,
            finished: ledger.finished().await?,
            calls: ledger.calls().await?,
        })
    }
}

fn is_quick(handshake: &Handshake) -> bool {
    handshake.custom_tools.is_empty() && handshake.known_tools.len() <= AT_ONCE
}

/// Of a handshake what its tools were taken from: that is what a store keeps.
fn taken_of(handshake: &Handshake, toolbelt: &Toolbelt) -> Handshake {
    let names = toolbelt.names();
    let taken = |name: &str| names.binary_search_by(|one| one.as_str().cmp(name)).is_ok();
    let known = handshake.known_tools.iter();
    let mut known: Vec<String> = known.filter(|name| taken(name)).cloned().collect();
    known.sort_unstable();
    known.dedup();
    let custom = handshake.custom_tools.iter();
    let custom = custom.filter(|tool| tool["name"].as_str().is_some_and(taken));
    Handshake {
        protocol: handshake.protocol,
        task: handshake.task,
        epoch: handshake.epoch,
        journal: handshake.journal,
        known_tools: known,
        custom_tools: custom.cloned().collect(),
        platform: fit_to_show(&handshake.platform),
        unacknowledged: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use serde_json::{Value, json};

    use super::*;
    use crate::Registry;
    use crate::remote::backend::entry::Entry;
    use crate::remote::backend::settings::Settings;
    use crate::remote::protocol::{JournalId, Platform, TaskId};
    use crate::remote::store::EmbeddedStore;
    use crate::remote::store::ledger::Ledger;

    fn open() -> Arc<Open> {
        let store = Arc::new(EmbeddedStore::in_memory().unwrap());
        let id = TaskId::random();
        let entrance = Entry::default().open((Ipv4Addr::LOCALHOST, 0).into());
        let known = Registry::builder().build().unwrap().manifest();
        Open::new(
            id,
            [0; 32],
            Arc::new(Settings::new(known)),
            Ledger::new(store, id),
            "me".into(),
            Arc::new(entrance),
            #[cfg(feature = "redis")]
            None,
        )
    }

    fn bringing(open: &Open, custom_tools: Vec<Value>) -> Handshake {
        Handshake {
            protocol: 1,
            task: open.id,
            epoch: 0,
            journal: JournalId::random(),
            known_tools: Vec::new(),
            custom_tools,
            platform: Platform::default(),
            unacknowledged: Vec::new(),
        }
    }

    /// Tools whose rules take their time to be judged.
    fn tools(count: usize) -> Vec<Value> {
        let tool = |number| {
            let name = format!("tool_{number}");
            let condition = |place| {
                json!({
                    "id": format!("{name}.pre[{place}]"), "kind": "pre", "predicate": "x", "parameters": [],
                    "lowering": "told", "sentence": "x",
                    "rule": {
                        "id": format!("{name}.pre[{place}]"), "message": "x", "paths": [],
                        "rule": "args.x.matches('^(a|b|c){1,50}[a-z]{1,60}(foo|bar){1,40}$')",
                    },
                })
            };
            json!({
                "name": name,
                "description": "Do something.",
                "package": "",
                "hints": {},
                "input_schema": {"type": "object", "properties": {"x": {"type": "string"}}},
                "conditions": (0..50).map(condition).collect::<Vec<_>>(),
            })
        };
        (0..count).map(tool).collect()
    }

    #[tokio::test]
    async fn who_brings_many_tools_keeps_nobody_waiting() {
        let open = open();
        let handshake = bringing(&open, tools(16));
        let judged = tokio::spawn({
            let open = Arc::clone(&open);
            async move { open.judge(handshake).await }
        });
        // There is one thread for all.
        let mut turns = 0;
        while !judged.is_finished() {
            tokio::task::yield_now().await;
            turns += 1;
        }
        let (_, session) = judged.await.unwrap().unwrap();
        assert_eq!(session.toolbelt().tools().len(), 16);
        assert!(turns > 100, "others had {turns} turns");
    }

    #[tokio::test]
    async fn what_is_kept_is_judged_as_it_was_brought() {
        let open = open();
        let mut brought = tools(2);
        brought.push(json!({"name": "no_schema"}));
        brought.push(brought[0].clone());
        let mut handshake = bringing(&open, brought);
        handshake.known_tools = vec!["unknown".to_owned()];
        let (handshake, session) = open.judge(handshake).await.unwrap();
        assert_eq!(session.toolbelt().refused().len(), 3);
        assert!(open.settle(&handshake, &session).await.unwrap());
        let kept = open.calls.ledger.handshake().await.unwrap().unwrap();
        assert_eq!(kept.known_tools, [""; 0]);
        assert!(
            kept.custom_tools
                .iter()
                .all(|tool| tool["name"] != "no_schema")
        );
        assert!(open.toolbelt_of(&kept).same_tools(session.toolbelt()));
    }
}
