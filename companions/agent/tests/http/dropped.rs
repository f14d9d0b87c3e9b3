//! Dropping a stream of events closes the connection.

use contract_agent::{Event, Provider};
use serde_json::json;

use crate::server::{Answer, Piece, Server};
use crate::tools::{agent, built, model};
use crate::wire::chunk;

#[tokio::test]
async fn dropping_the_events_closes_the_connection_in_the_middle_of_a_reply() {
    let piece = chunk(&json!({"content": "It is"}), None);
    let server = Server::with([Answer::Events(vec![Piece::Send(piece), Piece::Hang])]).await;
    let agent = agent(&server);
    let mut events = agent.run("go").stream();
    assert!(matches!(events.next().await, Some(Event::TextDelta { .. })));
    assert!(server.is_kept());
    drop(events);
    server.is_left().await;
}

#[tokio::test]
async fn dropping_the_events_closes_the_connection_before_there_is_a_reply() {
    for streams in [true, false] {
        let server = Server::with([Answer::Silence]).await;
        let agent = built(model(&server, Provider::OpenAi).streaming(streams)).build();
        let mut events = agent.run("go").stream();
        let asked = async {
            while server.asked().is_empty() {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            event = events.next() => panic!("{event:?}"),
            () = asked => {}
        }
        assert!(server.is_kept());
        drop(events);
        server.is_left().await;
    }
}
