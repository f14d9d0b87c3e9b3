//! The tools of a task: those of its first executor, for the life of the task.

use std::sync::Arc;

use super::session::{Session, sanitize_platform};
use super::task::OpenTask;
use crate::protocol::{Finished, Handshake};
use crate::store::StoreError;
use crate::store::task_store::StoredCalls;
use crate::toolbelt::Toolbelt;

/// The close reason for an executor whose tools have changed.
pub(super) const TOOLS_CHANGED: &str = "the tools of a task cannot change, and these differ";

/// How many known tools are evaluated on this thread; more of them, or custom tools, are evaluated on a blocking
/// thread: 128 tools with 50 rules each take 0.4 s (two cores, release build, November 2026).
const MAX_INLINE_TOOLS: usize = 16;

/// The stored state of a task.
#[derive(Debug)]
pub(super) struct StoredTask {
    pub(super) pinned: Option<Toolbelt>,
    pub(super) finished: Option<Finished>,
    pub(super) calls: StoredCalls,
}

impl OpenTask {
    /// Evaluates a handshake; returns it with its session.
    pub(super) async fn evaluate(
        self: &Arc<Self>,
        handshake: Handshake,
    ) -> Result<(Handshake, Session), String> {
        if is_cheap(&handshake) {
            let session = self.build_session(&handshake)?;
            return Ok((handshake, session));
        }
        let open = Arc::clone(self);
        let evaluated = tokio::task::spawn_blocking(move || {
            let session = open.build_session(&handshake)?;
            Ok((handshake, session))
        });
        let stopping = |_| Err("the backend is stopping".to_owned());
        evaluated.await.unwrap_or_else(stopping)
    }

    fn build_session(self: &Arc<Self>, handshake: &Handshake) -> Result<Session, String> {
        let toolbelt = self.toolbelt_of(handshake);
        let differs = |pinned: &Arc<Toolbelt>| !pinned.same_tools(&toolbelt);
        if self.pinned.get().is_some_and(differs) {
            return Err(TOOLS_CHANGED.to_owned());
        }
        let existing = self.session.borrow().clone();
        match existing {
            Some(session) => Ok(session),
            None => Session::new(self, Arc::new(toolbelt), &handshake.platform)
                .map_err(|error| error.to_string()),
        }
    }

    fn toolbelt_of(&self, handshake: &Handshake) -> Toolbelt {
        Toolbelt::of(handshake, &self.settings.known, &self.settings.limits)
    }

    /// Pins the tools of the first session, in the store too; returns whether those of this session are the same.
    pub(super) async fn pin(
        self: &Arc<Self>,
        handshake: &Handshake,
        session: &Session,
    ) -> Result<bool, StoreError> {
        // They were compared in `evaluate`.
        if self.pinned.get().is_some() {
            return Ok(true);
        }
        let accepted = accepted_part(handshake, session.toolbelt());
        let stored = self.calls.task_store.pin_handshake(&accepted).await?;
        let same = stored.known_tools == accepted.known_tools
            && stored.custom_tools == accepted.custom_tools;
        if !same
            && !self
                .toolbelt_of_stored(stored)
                .await?
                .same_tools(session.toolbelt())
        {
            return Ok(false);
        }
        self.pinned.get_or_init(|| Arc::clone(&session.toolbelt));
        Ok(true)
    }

    /// Evaluates a stored handshake: a store is trusted no more than a connection.
    async fn toolbelt_of_stored(
        self: &Arc<Self>,
        handshake: Handshake,
    ) -> Result<Toolbelt, StoreError> {
        if is_cheap(&handshake) {
            return Ok(self.toolbelt_of(&handshake));
        }
        let open = Arc::clone(self);
        let evaluated = tokio::task::spawn_blocking(move || open.toolbelt_of(&handshake));
        evaluated.await.map_err(|_| StoreError::Closed)
    }

    /// Loads what an earlier process has stored of the task.
    pub(super) async fn load_stored(self: &Arc<Self>) -> Result<StoredTask, StoreError> {
        let task_store = &self.calls.task_store;
        let pinned = match task_store.handshake().await? {
            Some(handshake) => Some(self.toolbelt_of_stored(handshake).await?),
            None => None,
        };
        Ok(StoredTask {
            pinned,
            finished: task_store.finished().await?,
            calls: task_store.calls().await?,
        })
    }
}

fn is_cheap(handshake: &Handshake) -> bool {
    handshake.custom_tools.is_empty() && handshake.known_tools.len() <= MAX_INLINE_TOOLS
}

/// Returns the part of a handshake that defines the accepted tools, which the store keeps.
fn accepted_part(handshake: &Handshake, toolbelt: &Toolbelt) -> Handshake {
    let is_accepted = |name: &str| toolbelt.get(name).is_some();
    let mut known: Vec<String> = Vec::new();
    for name in &handshake.known_tools {
        if is_accepted(name) && !known.contains(name) {
            known.push(name.clone());
        }
    }
    let custom = handshake.custom_tools.iter();
    let custom = custom.filter(|tool| tool["name"].as_str().is_some_and(is_accepted));
    Handshake {
        protocol: handshake.protocol,
        task: handshake.task,
        epoch: handshake.epoch,
        journal: handshake.journal,
        known_tools: known,
        custom_tools: custom.cloned().collect(),
        platform: sanitize_platform(&handshake.platform),
        unacknowledged: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use contract_manifest::ToManifest as _;
    use contract_runtime::Registry;
    use serde_json::{Value, json};

    use super::*;
    use crate::backend::listener::ListenerConfig;
    use crate::backend::settings::Settings;
    use crate::protocol::{JournalId, Platform, TaskId};
    use crate::store::EmbeddedStore;
    use crate::store::task_store::TaskStore;

    fn open() -> Arc<OpenTask> {
        let store = Arc::new(EmbeddedStore::in_memory().unwrap());
        let id = TaskId::random();
        let listener = ListenerConfig::default().open((Ipv4Addr::LOCALHOST, 0).into());
        let known = Registry::builder().build().unwrap().manifest();
        OpenTask::new(
            id,
            [0; 32],
            Arc::new(Settings::new(known)),
            TaskStore::new(store, id),
            Arc::new(listener),
        )
    }

    fn bringing(open: &OpenTask, custom_tools: Vec<Value>) -> Handshake {
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
                    "lowering": "described", "sentence": "x",
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
        let evaluated = tokio::spawn({
            let open = Arc::clone(&open);
            async move { open.evaluate(handshake).await }
        });
        // There is one thread for all.
        let mut turns = 0;
        while !evaluated.is_finished() {
            tokio::task::yield_now().await;
            turns += 1;
        }
        let (_, session) = evaluated.await.unwrap().unwrap();
        assert_eq!(session.toolbelt().tools().len(), 16);
        assert!(turns > 100, "others had {turns} turns");
    }

    #[tokio::test]
    async fn what_is_kept_is_judged_as_it_was_brought() {
        let open = open();
        let mut accepted = tools(2);
        accepted.push(json!({"name": "no_schema"}));
        accepted.push(accepted[0].clone());
        let mut handshake = bringing(&open, accepted);
        handshake.known_tools = vec!["unknown".to_owned()];
        let (handshake, session) = open.evaluate(handshake).await.unwrap();
        assert_eq!(session.toolbelt().refused().len(), 3);
        assert!(open.pin(&handshake, &session).await.unwrap());
        let kept = open.calls.task_store.handshake().await.unwrap().unwrap();
        assert_eq!(kept.known_tools, [""; 0]);
        assert!(
            kept.custom_tools
                .iter()
                .all(|tool| tool["name"] != "no_schema")
        );
        assert!(open.toolbelt_of(&kept).same_tools(session.toolbelt()));
    }
}
