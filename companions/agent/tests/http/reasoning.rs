//! Reasoning goes back to the provider and model that gave it, and only to them.

use std::sync::Arc;

use contract_agent::{
    ConstrainedAgent, ContractAgent, Event, GenaiModel, MemoryStore, Message, Provider,
    ReasoningEffort, Recovery, RunResult, RunState, RunStore as _, ToolChoice, Usage,
};
use serde_json::{Value, json};

use crate::server::{Answer, Server, says};
use crate::tools::{built, model, observed, registry};

fn reasons(thought: &'static str, answer: Answer) -> Answer {
    Answer::Reasons(thought, Box::new(answer))
}

/// Two calls in one reply, an answer, and another.
async fn thinking_server() -> Server {
    let two = ["a", "b"].map(|id| (id.to_owned(), "root".to_owned(), r#"{"of":9}"#.to_owned()));
    Server::with([
        reasons("A root\n it is. ", Answer::Calls(two.to_vec())),
        reasons("Three.", says("It is 3.")),
        says("Still 3."),
    ])
    .await
}

#[track_caller]
fn succeeded(result: &RunResult, at: &str) {
    assert!(result.success, "{at}: {:?}", result.error);
}

/// A written and read state, as another process has it.
fn reread(state: &RunState) -> RunState {
    let written = serde_json::to_string(state).expect("a state serialises");
    serde_json::from_str(&written).expect("it is read back")
}

#[tokio::test]
async fn reasoning_goes_back_in_the_run_and_from_a_stored_run() {
    for provider in Provider::ALL {
        for streams in [true, false] {
            let at = format!("{provider}, streaming {streams}");
            let server = thinking_server().await;
            let agent = || built(model(&server, provider).streaming(streams)).build();
            let result = agent().run("What is the root of 9?").await;
            succeeded(&result, &at);
            assert_eq!(observed(&result).len(), 2, "{at}");
            let mut expected = Usage::new(20, 10);
            (expected.cached_tokens, expected.reasoning_tokens) = (8, 6);
            assert_eq!(result.usage, expected, "{at}");
            let stored = reread(&result.state);
            let result = agent().run_after(stored, "Sure?").await;
            succeeded(&result, &at);
        }
    }
}

#[tokio::test]
async fn a_conversation_without_its_reasoning_or_with_another_is_refused() {
    for provider in Provider::ALL {
        let server = thinking_server().await;
        let agent = built(model(&server, provider)).build();
        let state = agent.run("What is the root of 9?").await.state;
        let given = serde_json::to_value(&state).expect("a state serialises");
        let mut lost = given.clone();
        let mut foreign = given.clone();
        for (place, message) in given["messages"].as_array().unwrap().iter().enumerate() {
            if message["reasoning"].is_object() {
                lost["messages"][place]["reasoning"] = Value::Null;
                let text = message["reasoning"]["data"].to_string();
                let data = serde_json::from_str(&text.replace("Three", "Four"));
                foreign["messages"][place]["reasoning"]["data"] = data.unwrap();
            }
        }
        for damaged in [lost, foreign] {
            let state: RunState = serde_json::from_value(damaged).expect("it is a state");
            let result = agent.run_after(state, "Sure?").await;
            let error = result.error.expect("it is refused").to_string();
            assert!(error.contains("lacks its reasoning"), "{provider}: {error}");
        }
    }
}

#[tokio::test]
async fn another_model_or_provider_does_not_get_it() {
    for provider in Provider::ALL {
        let server = thinking_server().await;
        let agent = built(model(&server, provider)).build();
        let state = agent.run("What is the root of 9?").await.state;
        for other in Provider::ALL {
            // It refuses every reasoning, because it gave none.
            let server = Server::with([says("3.")]).await;
            let mut name = "some-model-high";
            if other == provider {
                name = "another-model";
            }
            let other_model = GenaiModel::builder(name)
                .provider(other)
                .endpoint(server.url());
            let agent = built(other_model).build();
            let result = agent.run_after(state.clone(), "Sure?").await;
            succeeded(&result, &format!("{provider} to {other}"));
        }
    }
}

/// The reply is stored, and its calls are not made, when the process ends.
#[tokio::test]
async fn a_stored_reply_keeps_its_reasoning_when_the_run_goes_on() {
    for provider in Provider::ALL {
        let server = thinking_server().await;
        let agent = || built(model(&server, provider)).build();
        let store = MemoryStore::new();
        let state = RunState::open(Arc::new(store.clone()), "run").await;
        let state = state.expect("a new run");
        assert!(
            agent()
                .run_after(state, "What is the root of 9?")
                .await
                .success
        );
        // The task and the reply with the calls.
        let cut = MemoryStore::new();
        for (expected, record) in (0..).zip(store.read("run").await.expect("records")) {
            cut.append("run", expected, &record)
                .await
                .expect("a record");
            if record.contains(r#""role":"assistant""#) {
                break;
            }
        }
        let server = Server::with([reasons("A root\n it is. ", says("")), says("It is 3.")]).await;
        // So that the server knows this reasoning.
        let _ = built(model(&server, provider)).build().run("go").await;
        let state = RunState::open(Arc::new(cut), "run").await;
        let state = state.expect("a run");
        let result = built(model(&server, provider)).build().resume(state).await;
        succeeded(&result, &provider.to_string());
        assert_eq!(observed(&result).len(), 2, "{provider}");
    }
}

#[tokio::test]
async fn pieces_of_reasoning_are_events_of_the_stream_alone() {
    for provider in Provider::ALL {
        for streams in [true, false] {
            let server = Server::with([reasons("Let me see.", says("Yes."))]).await;
            let agent = built(model(&server, provider).streaming(streams)).build();
            let mut events = agent.run("go").stream();
            let mut thought = String::new();
            while let Some(event) = events.next().await {
                match event {
                    Event::Reasoning { text } => thought.push_str(&text),
                    Event::Answer { text } => assert_eq!(text, "Yes."),
                    _ => {}
                }
            }
            assert_eq!(thought, "Let me see.", "{provider}, {streams}");
        }
    }
}

#[tokio::test]
async fn the_reasoning_of_a_rejected_answer_is_kept_back() {
    let server = Server::with([
        reasons("The secret is 7.", says("It is 7.")),
        says("I cannot say."),
    ])
    .await;
    let agent = built(model(&server, Provider::OpenAi))
        .recovery(Recovery::retry(1))
        .answer_post("keeps the secret", |answer| !answer.contains('7'))
        .build();
    let mut events = agent.run("go").stream();
    while let Some(event) = events.next().await {
        assert!(!matches!(event, Event::Reasoning { .. }), "{event:?}");
    }
    let result = agent.run("go").await;
    assert!(!format!("{:?}", result.messages).contains("secret is"));
}

#[test]
fn a_reply_of_an_older_record_has_no_reasoning() {
    let written = json!({"role": "assistant", "text": "Yes."});
    let read: Message = serde_json::from_value(written.clone()).expect("it is read");
    assert_eq!(serde_json::to_value(&read).unwrap(), written);
}

#[tokio::test]
async fn effort_choice_caching_and_other_fields_are_sent_in_their_places() {
    let mut bodies = Vec::new();
    for provider in Provider::ALL {
        let server = Server::with([says("done")]).await;
        let model = model(&server, provider)
            .reasoning_effort(ReasoningEffort::Medium)
            .tool_choice(ToolChoice::Tool("root".to_owned()))
            .prompt_caching(true)
            .extra_body("top_k", 40);
        succeeded(&built(model).build().run("go").await, provider.name());
        let body = server.asked()[0].body.clone();
        assert_eq!(body["top_k"], 40, "{body}");
        bodies.push(body);
    }
    let [chat, anthropic, gemini] = &bodies[..] else {
        unreachable!("one of each");
    };
    assert_eq!(chat["reasoning_effort"], "medium");
    assert_eq!(chat["model"], "some-model-high");
    let root = json!({"type": "function", "function": {"name": "root"}});
    assert_eq!(chat["tool_choice"], root);
    assert_eq!(anthropic["thinking"]["budget_tokens"], 8000);
    assert_eq!(
        anthropic["tool_choice"],
        json!({"type": "tool", "name": "root"})
    );
    let last = &anthropic["messages"][0]["content"][0];
    assert_eq!(last["cache_control"], json!({"type": "ephemeral"}));
    let thinking = &gemini["generationConfig"]["thinkingConfig"];
    assert_eq!(thinking["includeThoughts"], true, "{gemini}");
    assert!(thinking["thinkingBudget"].is_u64(), "{gemini}");
    let choice = &gemini["toolConfig"]["functionCallingConfig"];
    assert_eq!(choice["allowedFunctionNames"], json!(["root"]), "{gemini}");
}

/// They share an object of Anthropic's, and genai lets a field that is added replace the whole.
#[tokio::test]
async fn an_effort_and_a_schema_are_both_sent() {
    let server = Server::with([says(r#"{"type":"answer","content":"done"}"#)]).await;
    let model = GenaiModel::builder("claude-opus-4-6")
        .endpoint(server.url())
        .constrains(true)
        .reasoning_effort(ReasoningEffort::Low)
        .build()
        .expect("the model can be built");
    let agent = ContractAgent::builder(ConstrainedAgent::new(model, registry())).build();
    succeeded(&agent.run("go").await, "constrained");
    let config = &server.asked()[0].body["output_config"];
    assert_eq!(config["effort"], "low", "{config}");
    assert_eq!(config["format"]["type"], "json_schema", "{config}");
}
