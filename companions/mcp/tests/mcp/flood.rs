use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;

use super::line::{Client, SHORT};
use super::tools::within;

#[tokio::test]
async fn a_long_result_goes_through_a_narrow_pipe() {
    let mut client = Client::with(|server| server.message_bytes(usize::MAX), 4096);
    client.begin().await;
    client.call(1, "hoard", json!({})).await;
    client.call(2, "long", json!({"letters": 8 << 20})).await;
    for _ in 0..2 {
        assert!(client.hear().await["result"].is_object());
    }
    client.lives().await;
}

#[tokio::test]
async fn a_client_that_does_not_read_cannot_hold_a_server_it_has_left() {
    let mut client = Client::with(|server| server.grace(SHORT), 4096);
    client.begin().await;
    for id in 0..100 {
        client.call(id, "long", json!({"letters": 10_000})).await;
    }
    client.close().await;
    // It keeps its end of the pipe and never reads.
    within(client.serving).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_client_that_cannot_be_written_to_has_left() {
    let mut client = Client::new();
    client.begin().await;
    client.call(1, "wait", json!({})).await;
    client.seen.begun().await;
    client.call(2, "point", json!({})).await;
    let seen = client.seen.clone();
    let serving = client.serving;
    drop((client.read, client.write));
    seen.dropped().await;
    within(serving).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_calls_are_answered_once_each() {
    const CALLS: usize = 10_000;
    let mut client = Client::with(|server| server.calls(CALLS), 1 << 20);
    client.begin().await;
    let mut write = client.write;
    let names = ["divide", "panics", "point", "fails", "maybe", "nobody"];
    let writing = tokio::spawn(async move {
        use tokio::io::AsyncWriteExt as _;
        for id in 0..CALLS {
            let name = names[id % names.len()];
            let line = format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{name}"}}}}"#
            );
            write.write_all(line.as_bytes()).await.unwrap();
            write.write_all(b"\n").await.unwrap();
        }
        write
    });
    let mut answered = vec![false; CALLS];
    for _ in 0..CALLS {
        let line = within(client.read.next_line()).await.unwrap().unwrap();
        let answer: serde_json::Value = serde_json::from_str(&line).unwrap();
        let id = usize::try_from(answer["id"].as_u64().unwrap()).unwrap();
        assert!(!std::mem::replace(&mut answered[id], true), "{answer}");
    }
    assert!(answered.iter().all(|one| *one));
    drop(within(writing).await.unwrap());
    assert_eq!(client.seen.0.running.load(Ordering::SeqCst), 0);
}

/// The clock stands still, and moves on only when nobody has anything left to do.
#[tokio::test(start_paused = true)]
async fn a_client_that_asks_without_reading_is_not_heard_for_ever() {
    const MANY: usize = 1000;
    let mut client = Client::with(|server| server, 4096);
    client.begin().await;
    let mut taken = 0;
    let writing = async {
        while taken < MANY {
            client.call(taken, "long", json!({"letters": 90_000})).await;
            taken += 1;
        }
    };
    let stuck = tokio::time::timeout(Duration::from_secs(1), writing).await;
    assert!(stuck.is_err() && taken > 100, "{taken} were taken");
    client.close().await;
    let mut answered = 0;
    while let Some(line) = within(client.read.next_line()).await.unwrap() {
        answered += usize::from(line.contains("xxx"));
    }
    assert!(
        (taken - 1..=taken + 1).contains(&answered),
        "{answered} of {taken}"
    );
}

/// The clock stands still, and moves on only when nobody has anything left to do.
#[tokio::test(start_paused = true)]
async fn short_answers_that_nobody_reads_are_few_too() {
    const MANY: usize = 20_000;
    let mut client = Client::with(|server| server, 4096);
    client.begin().await;
    let mut taken = 0;
    let writing = async {
        while taken < MANY {
            let ping = json!({"jsonrpc": "2.0", "id": taken, "method": "ping"});
            client.say(ping.to_string()).await;
            taken += 1;
        }
    };
    let stuck = tokio::time::timeout(Duration::from_secs(1), writing).await;
    assert!(stuck.is_err() && taken > 1000, "{taken} were taken");
}

/// Asks for long answers until the server reads no more.
async fn fill(client: &mut Client) -> u32 {
    let mut taken = 0;
    let writing = async {
        loop {
            client.call(taken, "long", json!({"letters": 90_000})).await;
            taken += 1;
        }
    };
    let _: Result<(), _> = tokio::time::timeout(Duration::from_secs(1), writing).await;
    assert!(taken > 100, "{taken} were taken");
    taken
}

/// The clock stands still, and moves on only when nobody has anything left to do.
#[tokio::test(start_paused = true)]
async fn a_client_that_leaves_much_unread_cannot_hold_a_server() {
    let mut client = Client::with(|server| server, 4096);
    client.begin().await;
    fill(&mut client).await;
    client.close().await;
    // It keeps its end of the pipe and never reads.
    within(client.serving).await.unwrap().unwrap();
}

/// The clock stands still, and moves on only when nobody has anything left to do.
#[tokio::test(start_paused = true)]
async fn a_client_that_leaves_refusals_unread_cannot_hold_a_server() {
    let mut client = Client::with(|server| server, 4096);
    client.begin().await;
    let writing = async {
        loop {
            client.say("garbage").await;
        }
    };
    let stuck: Result<(), _> = tokio::time::timeout(Duration::from_secs(1), writing).await;
    assert!(stuck.is_err());
    client.close().await;
    within(client.serving).await.unwrap().unwrap();
}

/// The clock stands still, and moves on only when nobody has anything left to do.
#[tokio::test(start_paused = true)]
async fn a_client_that_reads_slowly_has_not_left() {
    use tokio::io::AsyncReadExt as _;
    let mut client = Client::with(|server| server, 4096);
    client.begin().await;
    let taken = fill(&mut client).await;
    let mut read = client.read.into_inner();
    // More than the pipe and the reader's own buffer hold, so that each time something is read of the pipe.
    let mut some = vec![0; 5000];
    // More than its time, and much less than one answer.
    for _ in 0..8 {
        tokio::time::sleep(Duration::from_secs(8)).await;
        within(read.read_exact(&mut some)).await.unwrap();
    }
    assert!(!client.serving.is_finished());
    tokio::io::AsyncWriteExt::shutdown(&mut client.write)
        .await
        .unwrap();
    let mut rest = String::new();
    within(read.read_to_string(&mut rest)).await.unwrap();
    let answered = u32::try_from(rest.lines().count()).unwrap();
    assert!(
        (taken - 1..=taken + 1).contains(&answered),
        "{answered} of {taken}"
    );
    within(client.serving).await.unwrap().unwrap();
}
