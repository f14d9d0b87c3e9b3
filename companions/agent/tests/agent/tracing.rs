//! The spans of a run, and its violations in the log of the program, like those of tools.

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};

use contract_agent::{Budget, ContractAgent, Delta, Hook, Scripted, Usage};
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

/// Every span, one a line, with the number of the span around it; and what is recorded later.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<(Vec<String>, Vec<u64>)>>);

struct Line<'l>(&'l mut String);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, " {field}={value:?}");
    }
}

impl Subscriber for Spans {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::INFO
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut spans = self.0.lock().unwrap();
        let around = spans.1.last().copied().unwrap_or_default();
        let mut line = format!("{around} {}", span.metadata().name());
        span.record(&mut Line(&mut line));
        spans.0.push(line);
        Id::from_u64(spans.0.len() as u64)
    }
    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut spans = self.0.lock().unwrap();
        let index = usize::try_from(span.into_u64()).unwrap() - 1;
        values.record(&mut Line(&mut spans.0[index]));
    }
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, span: &Id) {
        self.0.lock().unwrap().1.push(span.into_u64());
    }
    fn exit(&self, _: &Id) {
        self.0.lock().unwrap().1.pop();
    }
}

#[tokio::test]
async fn a_run_is_a_span_around_its_calls_with_the_names_of_the_genai_conventions() {
    let spans = Spans::default();
    let listening = tracing::subscriber::set_default(spans.clone());
    let model = |last: &str| {
        Scripted::new()
            .calls(
                "",
                [("root", r#"{"of":4}"#), ("hide", r#"{"what":"fail"}"#)],
            )
            .reply([
                Delta::Text(last.to_owned()),
                Delta::Usage(Usage::new(12, 3)),
            ])
    };
    // So that all places are known: one that another test reaches while this one begins to listen is kept as one without a listener.
    ContractAgent::builder(inner(&model("two")))
        .build()
        .run("go")
        .await;
    rebuild_interest_cache();
    std::mem::take(&mut *spans.0.lock().unwrap());
    for (last, error) in [("two", ""), ("", " error.type=\"no_answer\"")] {
        let agent = ContractAgent::builder(inner(&model(last)))
            .name("roots")
            .build();
        agent.run("go").await;
        let lines = std::mem::take(&mut spans.0.lock().unwrap().0);
        let run = " gen_ai.operation.name=\"invoke_agent\" gen_ai.agent.name=\"roots\"";
        let usage = " gen_ai.usage.input_tokens=12 gen_ai.usage.output_tokens=3";
        let name = "0 invoke_agent otel.name=\"invoke_agent roots\" otel.kind=\"internal\"";
        assert_eq!(lines[0], format!("{name}{run}{error}{usage}"));
        assert_eq!(lines.len(), 3, "{lines:?}");
        for (line, (tool, error)) in lines[1..]
            .iter()
            .zip([("root", None), ("hide", Some(" error.type=\"failed\""))])
        {
            let name = format!("1 execute_tool otel.name=execute_tool {tool} ");
            assert!(line.starts_with(&name), "{line}");
            assert_eq!(line.contains("error.type"), error.is_some(), "{line}");
            assert!(line.ends_with(error.unwrap_or("effect=\"none\"")), "{line}");
        }
    }
    // Without a name.
    let agent = ContractAgent::builder(inner(&model("two"))).build();
    agent.run("go").await;
    let lines = std::mem::take(&mut spans.0.lock().unwrap().0);
    let start =
        "0 invoke_agent otel.kind=\"internal\" gen_ai.operation.name=\"invoke_agent\" gen_ai.usage";
    assert!(lines[0].starts_with(start), "{lines:?}");
    drop(listening);
}
