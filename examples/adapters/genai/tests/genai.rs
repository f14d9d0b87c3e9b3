//! A loop over genai, against a local server that follows a script.

use adapter_genai::answer;
use contract_runtime::Context;
use genai::adapter::AdapterKind;
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use scripted::{Heard, Scene, Server};

async fn talk(scene: Scene) -> Heard {
    let server = Server::start(scene.replies).await.unwrap();
    let target = ServiceTarget {
        endpoint: Endpoint::from_owned(server.url()),
        auth: AuthData::from_single("none"),
        model: ModelIden::new(AdapterKind::OpenAI, "scripted"),
    };
    let person = scene.person;
    let context =
        Context::new().approver(move |request| std::future::ready(person.approve(&request)));
    let client = Client::new().unwrap();
    let answer = answer(&client, target, &scene.registry, "Go.", &context).await;
    assert_eq!(
        server.requests()[0]["tools"][0]["function"]["name"],
        "book_room"
    );
    Heard {
        results: server.results(),
        answer: answer.unwrap(),
    }
}

scripted::promises!(talk);
