//! Violations of a run in the log of the program, like those of tools.

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};

use contract_agent::{Budget, ContractAgent, Hook, Scripted};
use contract_runtime::Policy;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_core::callsite::rebuild_interest_cache;

use crate::tools::inner;

/// Every warning, one a line.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<String>>);

impl Visit for Warnings {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0.lock().unwrap(), "{field}={value:?} ");
    }
}

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
        self.0.lock().unwrap().push('\n');
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn a_violation_of_a_run_is_logged_without_its_values() {
    let warnings = Warnings::default();
    let listening = tracing::subscriber::set_default(warnings.clone());
    // So that all places are known.
    let unheeded = ContractAgent::builder(inner(&Scripted::new().text("a")));
    unheeded
        .task_pre(Hook::new("none"), |_| false)
        .build()
        .run("a")
        .await;
    warnings.0.lock().unwrap().clear();
    for policy in [Policy::Observe, Policy::Enforce, Policy::QuickEnforce] {
        for hook in ["task", "invariant", "answer", "budget"] {
            let model = Scripted::new().text("SECRET");
            let agent = ContractAgent::builder(inner(&model));
            let named = || Hook::new("mine").policy(policy);
            let agent = match hook {
                "task" => agent.task_pre(named(), |_| false),
                "invariant" => agent.invariant(named(), |_| false),
                "answer" => agent.answer_post(named(), |_| false),
                _ => agent.policy(policy).budget(Budget::Iterations(0)),
            };
            // Another test that reaches the same place first, at the moment when this one begins to listen, has it kept as one
            // that nobody listens to.
            rebuild_interest_cache();
            agent.build().run("SECRET").await;
            let logged = std::mem::take(&mut *warnings.0.lock().unwrap());
            let contract = match hook {
                "budget" => "contract=agent.invariant.budget: iterations ".to_owned(),
                _ => format!("contract=agent.{hook}.mine "),
            };
            assert_eq!(logged.matches(&contract).count(), 1, "{policy:?}: {logged}");
            assert!(logged.contains("contract violation: "), "{logged}");
            assert!(!logged.contains("SECRET"), "{logged}");
        }
    }
    drop(listening);
}
