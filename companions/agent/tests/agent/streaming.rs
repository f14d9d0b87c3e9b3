//! Replies under a grammar, while they come.

use std::sync::{Arc, Mutex};

use contract_agent::{
    ConstrainedAgent, ContractAgent, Delta, Event, Model, Reply, Request, RunError, Scripted,
    ToolCallingAgent, Usage,
};

use crate::tools::{registry, words};

const ANSWER: &str = r#"{"type":"answer","content":"done"}"#;

fn inner(model: &Scripted) -> ConstrainedAgent<Scripted> {
    ConstrainedAgent::new(model.clone(), registry())
}

/// Says one thing in pieces, and notes what it was given and how much of it was taken.
#[derive(Clone, Default)]
struct Slow {
    taken: Arc<Mutex<Vec<usize>>>,
    schemas: Arc<Mutex<Vec<serde_json::Value>>>,
}

impl Model for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    fn reply<'a>(&'a self, request: Request<'a>) -> Reply<'a> {
        let schema = request.response_schema.expect("every request has one");
        self.schemas.lock().unwrap().push(schema.clone());
        assert!(request.tools.is_none(), "the tools are told in words");
        let number = {
            let mut taken = self.taken.lock().unwrap();
            taken.push(0);
            taken.len() - 1
        };
        let text = if number == 0 {
            "{\"type\":\"prose\", and so on, for ever"
        } else {
            ANSWER
        };
        Box::pin(contract_agent::stream_with(move |emitter| async move {
            for letter in text.chars() {
                self.taken.lock().unwrap()[number] += 1;
                emitter.emit(Ok(Delta::Text(letter.to_string()))).await;
            }
        }))
    }
}

/// The texts of pieces, without the JSON around them; and what they were told before.
#[tokio::test]
async fn reasoning_and_answer_are_told_while_they_come() {
    let reply = r#"{"reasoning":"Caf\u00e9.","type":"answer","content":"a \"b\"\n\ud83e\udd80"}"#;
    let pieces = reply.chars().map(|letter| Delta::Text(letter.to_string()));
    let model = Scripted::new().reply(pieces);
    let agent = ContractAgent::builder(inner(&model)).build();
    let mut events = agent.run("go").stream();
    let (mut pieces, mut told) = (Vec::new(), Vec::new());
    while let Some(event) = events.next().await {
        match event {
            Event::TextDelta { text } => pieces.push(text),
            Event::Answer { text } => {
                assert!(pieces.len() > 10, "it came in pieces: {pieces:?}");
                told.push(text);
            }
            _ => {}
        }
    }
    assert_eq!(told, ["a \"b\"\n\u{1f980}"]);
    assert_eq!(pieces.concat(), format!("Café.\n{}", told[0]));
}

#[tokio::test]
async fn a_reply_that_is_longer_than_a_mebibyte_is_stopped() {
    let long = format!(r#"{{"type":"answer","content":"{}"}}"#, "x".repeat(1 << 20));
    let model = Scripted::new().text(long).text(ANSWER);
    let agent = ContractAgent::builder(inner(&model)).build();
    let result = agent.run("go").await;
    assert_eq!(words(&result.steps), ["retry 1", "answer done"]);
    let told = format!("{:?}", model.requests()[1].last());
    assert!(told.contains("it is longer than 1048576 bytes"), "{told}");
}

/// A reply that is read to its end says what it cost, also if it is not valid.
#[tokio::test]
async fn a_reply_that_is_not_valid_is_counted() {
    let usage = |tokens| Delta::Usage(Usage::new(tokens, 1));
    let model = Scripted::new()
        .reply([Delta::Text("prose".to_owned()), usage(100)])
        .reply([Delta::Text(ANSWER.to_owned()), usage(10)]);
    let agent = ContractAgent::builder(inner(&model)).build();
    let usage = agent.run("go").await.usage;
    assert_eq!((usage.input_tokens, usage.uncounted_replies), (110, 0));
}

#[tokio::test]
async fn a_reply_is_judged_at_its_end_and_the_schema_goes_along() {
    let model = Slow::default();
    let agent = ConstrainedAgent::new(model.clone(), registry());
    let result = ContractAgent::builder(agent).build().run("go").await;
    assert!(result.success, "{:?}", result.error);
    let taken = model.taken.lock().unwrap().clone();
    let until = "{\"type\":\"prose\", and so on, for ever".len();
    assert_eq!(taken, [until, ANSWER.len()]);
    let schemas = model.schemas.lock().unwrap();
    let tools: Vec<_> = schemas[0]["anyOf"]
        .as_array()
        .expect("alternatives")
        .iter()
        .filter_map(|one| one["properties"]["tool"]["const"].as_str())
        .collect();
    assert_eq!(tools, ["hide", "root"]);
    assert_eq!(
        schemas[0]["$defs"]["root"]["properties"]["of"]["minimum"],
        0.0
    );
}

/// Never ends.
#[contract_runtime::tool(idempotent)]
async fn wait() {
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn a_stream_that_is_left_gives_a_run_that_can_be_resumed() {
    let registry = contract_runtime::Registry::builder()
        .tool(wait)
        .build()
        .unwrap();
    let model = Scripted::new().calls("", [("wait", "{}")]);
    let agent =
        ContractAgent::builder(ToolCallingAgent::new(model.clone(), registry.clone())).build();
    let mut events = agent.run("go").stream();
    while !matches!(events.next().await, Some(Event::Action { .. })) {}
    let left = events.finish();
    assert!(!left.success && left.error.is_none());
    assert!(left.state.is_open());

    let context = contract_runtime::Context::new().timeout(std::time::Duration::from_millis(10));
    let resumed = agent.resume(left.state).context(context).await;
    assert_eq!(resumed.error, Some(RunError::TimedOut));
    assert_eq!(model.requests().len(), 1, "the stored reply is used");
}
