//! A loop over async-openai, against a local server that follows a script.

use adapter_async_openai::answer;
use async_openai::Client;
use async_openai::config::OpenAIConfig;
use scripted::{Heard, Scene, Server};

async fn talk(scene: Scene) -> Heard {
    let server = Server::start(scene.replies).await.unwrap();
    let config = OpenAIConfig::new()
        .with_api_base(server.url().trim_end_matches('/'))
        .with_api_key("none");
    let client = Client::with_config(config);
    let decide = async |request: &_| scene.person.approve(request);
    let answer = answer(&client, "scripted", &scene.registry, "Go.", decide).await;
    let tools = &server.requests()[0]["tools"];
    assert_eq!(tools[0]["function"]["name"], "book_room");
    assert_eq!(tools[0]["function"]["strict"], true);
    Heard {
        results: server.results(),
        answer: answer.unwrap(),
    }
}

scripted::promises!(talk);
