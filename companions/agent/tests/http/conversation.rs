//! A whole conversation with each provider, streamed and not, and what the provider is asked.

use std::future::poll_fn;

use contract_agent::{Budget, Event, Message, Model as _, Provider, Request};
use contract_dialects::{StrictDialect, StrictExport as _};
use contract_runtime::Dialect;
use serde_json::{Value, json};

use crate::server::{Answer, Asked, Server, calls, says};
use crate::tools::{KEY, built, ended, model, observed, registry};

/// What a run of two calls and an answer asks for.
async fn talk(provider: Provider, streams: bool) -> Vec<Asked> {
    let two = [("a", "root", r#"{"of":9}"#), ("b", "root", r#"{"of":"x"}"#)];
    let two = two.map(|(id, name, text)| (id.to_owned(), name.to_owned(), text.to_owned()));
    let server = Server::with([Answer::Calls(two.to_vec()), says("It is 3 – or so.")]).await;
    let agent = built(model(&server, provider).streaming(streams)).build();
    let result = agent.run("What is the root of 9?").await;
    let at = format!("{provider}, streaming {streams}");
    assert_eq!(
        result.answer.as_deref(),
        Some("It is 3 – or so."),
        "{at}: {:?}",
        result.error
    );
    assert_eq!(
        (result.iterations, result.usage.input_tokens),
        (2, 20),
        "{at}"
    );
    assert_eq!(result.usage.output_tokens, 10, "{at}");
    let observed = observed(&result);
    assert_eq!(observed[0].1, "3.00", "{at}");
    assert_eq!(observed[1].0.to_string(), "invalid_arguments", "{at}");
    server.asked()
}

fn export(dialect: Dialect) -> Value {
    registry().export(dialect).clone()
}

fn export_strict(dialect: StrictDialect) -> Value {
    let exported = registry().export_strict(dialect);
    exported.expect("it can be said").tools
}

#[tokio::test]
async fn chat_completions_get_tools_system_text_and_results_in_their_places() {
    for streams in [true, false] {
        let asked = talk(Provider::OpenAi, streams).await;
        let [first, second] = &asked[..] else {
            panic!("two requests, not {}", asked.len());
        };
        assert_eq!(first.path, "/v1/chat/completions");
        assert_eq!(
            first.header("authorization"),
            Some(&*format!("Bearer {KEY}"))
        );
        assert_eq!(first.body["model"], "some-model-high");
        assert_eq!(first.body.get("reasoning_effort"), None);
        assert_eq!(first.body["tools"], export(Dialect::OpenAiChat));
        let messages = second.body["messages"].as_array().unwrap();
        assert_eq!(
            messages[0],
            json!({"role": "system", "content": "Be brief."})
        );
        assert_eq!(
            messages[1],
            json!({"role": "user", "content": "What is the root of 9?"})
        );
        assert_eq!(messages[2]["tool_calls"][0]["id"], "a");
        let function = json!({"name": "root", "arguments": r#"{"of":9}"#});
        assert_eq!(messages[2]["tool_calls"][0]["function"], function);
        assert_eq!(
            messages[3],
            json!({"role": "tool", "tool_call_id": "a", "content": "3.00"})
        );
        assert_eq!(messages[4]["tool_call_id"], "b");
        assert!(
            messages[4]["content"].as_str().unwrap().contains("/of"),
            "{}",
            messages[4]
        );
        assert_eq!(messages.len(), 5);
    }
}

#[tokio::test]
async fn anthropic_gets_tools_system_text_and_results_in_their_places() {
    for streams in [true, false] {
        let asked = talk(Provider::Anthropic, streams).await;
        let body = &asked[1].body;
        assert_eq!(asked[0].path, "/v1/messages");
        assert_eq!(asked[0].header("x-api-key"), Some(KEY));
        assert_eq!(asked[0].header("anthropic-version"), Some("2023-06-01"));
        assert_eq!(body["model"], "some-model-high");
        assert_eq!(body["system"], "Be brief.");
        assert_eq!(body["tools"], export(Dialect::Anthropic));
        let messages = body["messages"].as_array().unwrap();
        let call = json!({"type": "tool_use", "id": "a", "name": "root", "input": {"of": 9}});
        assert_eq!(messages[1]["content"][0], call);
        // All results of one reply stand in one message, right after it.
        assert_eq!(messages.len(), 3);
        let good = json!({"type": "tool_result", "tool_use_id": "a", "content": "3.00", "is_error": false});
        assert_eq!(messages[2]["content"][0], good);
        assert_eq!(messages[2]["content"][1]["is_error"], true);
    }
}

#[tokio::test]
async fn gemini_gets_tools_system_text_and_results_in_their_places() {
    for streams in [true, false] {
        let asked = talk(Provider::Gemini, streams).await;
        let body = &asked[1].body;
        let method = if streams {
            "streamGenerateContent?alt=sse"
        } else {
            "generateContent"
        };
        assert_eq!(
            asked[0].path,
            format!("/v1/models/some-model-high:{method}")
        );
        assert_eq!(asked[0].header("x-goog-api-key"), Some(KEY));
        assert_eq!(body["systemInstruction"]["parts"][0]["text"], "Be brief.");
        let tools =
            json!([{"functionDeclarations": export_strict(StrictDialect::GeminiJsonSchema)}]);
        assert_eq!(body["tools"], tools);
        let contents = body["contents"].as_array().unwrap();
        assert_eq!(contents.len(), 3);
        let call = json!({"functionCall": {"id": "a", "name": "root", "args": {"of": 9}}});
        assert_eq!(contents[1]["parts"][0], call);
        let results = contents[2]["parts"].as_array().unwrap();
        assert_eq!(results.len(), 2);
        assert_eq!(results[0]["functionResponse"]["name"], "root");
        assert_eq!(
            results[0]["functionResponse"]["response"]["content"],
            "3.00"
        );
    }
}

/// genai rewrites strict schemas; here they go out as they are.
#[tokio::test]
async fn strict_tools_arrive_as_they_are_exported() {
    for (provider, dialect) in [
        (Provider::OpenAi, StrictDialect::OpenAiChat),
        (Provider::Anthropic, StrictDialect::Anthropic),
    ] {
        let server = Server::with([says("done")]).await;
        let agent = built(model(&server, provider).dialect(dialect)).build();
        assert!(agent.run("go").await.success);
        assert_eq!(
            server.asked()[0].body["tools"],
            export_strict(dialect),
            "{dialect}"
        );
    }
    let server = Server::with([says("done")]).await;
    let model = model(&server, Provider::Gemini).dialect(StrictDialect::GeminiParameters);
    assert!(built(model).build().run("go").await.success);
    let tools = json!([{"functionDeclarations": export_strict(StrictDialect::GeminiParameters)}]);
    assert_eq!(server.asked()[0].body["tools"], tools);
}

#[tokio::test]
async fn text_is_told_as_it_comes() {
    for provider in [Provider::OpenAi, Provider::Anthropic] {
        let server = Server::with([says("one two")]).await;
        let agent = built(model(&server, provider)).build();
        let mut events = agent.run("go").stream();
        let mut pieces = Vec::new();
        while let Some(event) = events.next().await {
            if let Event::TextDelta { text } = event {
                pieces.push(text);
            }
        }
        assert_eq!(pieces, ["one", " two"], "{provider}");
    }
}

#[tokio::test]
async fn the_limit_of_tokens_is_sent_and_a_reply_that_reaches_it_is_no_answer() {
    let server = Server::with([Answer::Raw(
        200,
        vec![("content-type", "application/json".to_owned())],
        json!({"choices": [{"message": {"content": "It is"}, "finish_reason": "length"}]})
            .to_string(),
    )])
    .await;
    let model = model(&server, Provider::OpenAi)
        .streaming(false)
        .max_tokens(7);
    let result = built(model).build().run("go").await;
    assert_eq!(server.asked()[0].body["max_tokens"], 7);
    assert_eq!(
        ended(&result),
        "the model failed: the reply reached the token limit; allow more tokens, or ask for less"
    );
}

/// What one request to a provider holds that asks for all that a request can ask for.
async fn asked_for_all(provider: Provider, streams: bool) -> Value {
    let server = Server::with([says("done")]).await;
    let model = model(&server, provider)
        .streaming(streams)
        .constrains(true)
        .temperature(0.5)
        .max_tokens(9)
        .build()
        .expect("the model can be built");
    let messages = [Message::User {
        text: "go".to_owned(),
    }];
    let stop = ["Observation:".to_owned()];
    let schema = json!({"const": 1});
    let mut request = Request::new(&messages).response_schema(&schema);
    request.stop = &stop;
    request.max_tokens = Some(7);
    let mut reply = model.reply(request);
    while let Some(piece) = poll_fn(|task| reply.as_mut().poll_next(task)).await {
        piece.expect("it replies");
    }
    server.asked()[0].body.clone()
}

#[tokio::test]
async fn stop_texts_limits_and_a_schema_are_sent_in_their_places() {
    for streams in [true, false] {
        let body = asked_for_all(Provider::OpenAi, streams).await;
        assert_eq!(body["stop"], json!(["Observation:"]));
        assert_eq!(
            (&body["max_tokens"], &body["temperature"]),
            (&json!(7), &json!(0.5))
        );
        let schema = &body["response_format"]["json_schema"]["schema"];
        assert_eq!(schema["const"], 1, "{body}");
        let body = asked_for_all(Provider::Anthropic, streams).await;
        assert_eq!(body["stop_sequences"], json!(["Observation:"]));
        assert_eq!(
            (&body["max_tokens"], &body["temperature"]),
            (&json!(7), &json!(0.5))
        );
        assert_eq!(
            body["output_config"]["format"]["schema"]["const"], 1,
            "{body}"
        );
        let body = asked_for_all(Provider::Gemini, streams).await;
        let config = &body["generationConfig"];
        assert_eq!(config["stopSequences"], json!(["Observation:"]));
        assert_eq!(
            (&config["maxOutputTokens"], &config["temperature"]),
            (&json!(7), &json!(0.5))
        );
        assert_eq!(config["responseJsonSchema"]["const"], 1, "{body}");
    }
}

/// A new one costs several round trips, and most of them for encryption.
#[tokio::test]
async fn one_connection_serves_all_steps_of_a_run() {
    for provider in Provider::ALL {
        for streams in [true, false] {
            let asked = talk(provider, streams).await;
            assert_eq!(asked[0].from, asked[1].from, "{provider}, {streams}");
        }
    }
}

#[tokio::test]
async fn what_replies_cost_counts_against_a_budget() {
    let server = Server::that(|number| calls("note", &format!(r#"{{"text":"{number}"}}"#))).await;
    let agent = built(model(&server, Provider::OpenAi))
        .budget(Budget::Tokens(40))
        .build();
    let error = ended(&agent.run("go").await);
    assert!(error.contains("a run has at most 40 tokens"), "{error}");
    assert_eq!(server.asked().len(), 3);
}
