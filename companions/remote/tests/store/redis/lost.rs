//! Answers that are lost on their way: the server has done what it was asked, and nobody was told.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use contract_remote::protocol::TaskId;
use contract_remote::store::{Expect, Logged, RedisStore, Store, Stored, Written};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};

use super::patient;
use crate::server::Server;

/// Stands between client and server, and loses answers when it is told to.
struct Between {
    path: PathBuf,
    /// How many answers to scripts will be lost, each with its connection.
    lose: Arc<AtomicU32>,
    /// How many were.
    gone: Arc<AtomicU32>,
}

impl Between {
    fn new(server: &Server) -> Self {
        let path = server.folder().join("between");
        let listener = UnixListener::bind(&path).unwrap();
        let (lose, gone) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let to = server.folder().join("s");
        let counts = (lose.clone(), gone.clone());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = UnixStream::connect(&to).await.unwrap();
                tokio::spawn(pass(client, server, counts.clone()));
            }
        });
        Self { path, lose, gone }
    }

    fn address(&self) -> String {
        format!("redis+unix://{}", self.path.display())
    }
}

async fn pass(
    client: UnixStream,
    server: UnixStream,
    (lose, gone): (Arc<AtomicU32>, Arc<AtomicU32>),
) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let script = Arc::new(AtomicU32::new(0));
    let asked = script.clone();
    let there = tokio::spawn(async move {
        let mut bytes = vec![0; 64 << 10];
        while let Ok(count @ 1..) = from_client.read(&mut bytes).await {
            let is_script = bytes[..count].windows(7).any(|word| word == b"EVALSHA");
            asked.store(u32::from(is_script), Ordering::SeqCst);
            if to_server.write_all(&bytes[..count]).await.is_err() {
                break;
            }
        }
    });
    let mut bytes = vec![0; 64 << 10];
    while let Ok(count @ 1..) = from_server.read(&mut bytes).await {
        // `NOSCRIPT` is no answer: nothing was done.
        let answer = script.load(Ordering::SeqCst) == 1 && bytes[0] != b'-';
        let one_less = |left: u32| left.checked_sub(1);
        if answer
            && lose
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less)
                .is_ok()
        {
            gone.fetch_add(1, Ordering::SeqCst);
            break;
        }
        if to_client.write_all(&bytes[..count]).await.is_err() {
            break;
        }
    }
    there.abort();
}

#[tokio::test]
async fn a_write_whose_answer_is_lost_is_no_conflict_with_itself() {
    let server = Server::start();
    let between = Between::new(&server);
    let store = RedisStore::new(patient(between.address())).unwrap();
    let task = TaskId::random();
    let mut version = 0;
    for losses in [0, 1, 2, 1, 3] {
        between.lose.store(losses, Ordering::SeqCst);
        let expect = match version {
            0 => Expect::Absent,
            version => Expect::Version(version),
        };
        let written = store.write(task, "a", "text", expect).await.unwrap();
        version += 1;
        assert_eq!(written, Written::Done { version });
        between.lose.store(losses, Ordering::SeqCst);
        let written = store.write(task, "any", "text", Expect::Any).await.unwrap();
        assert_eq!(written, Written::Done { version }, "it was made once");
        between.lose.store(losses, Ordering::SeqCst);
        let id = format!("id{version}");
        let sequence = store.append(task, "log", &id, "text").await.unwrap();
        assert_eq!(sequence, version);
    }
    assert_eq!(between.gone.load(Ordering::SeqCst), 3 * 7);
    let tail = store.tail(task, "log", 0, 100).await.unwrap();
    assert_eq!(tail.entries.len(), 5);

    // A refusal that is lost is still a refusal.
    between.lose.store(2, Ordering::SeqCst);
    let written = store.write(task, "a", "no", Expect::Absent).await.unwrap();
    let there = Some(Stored::new(5, "text"));
    assert_eq!(written, Written::Conflict { current: there });
}

#[tokio::test]
async fn a_repeated_write_does_not_undo_what_came_in_between() {
    let server = Server::start();
    let between = Between::new(&server);
    let mut options = patient(between.address());
    // The answer is lost, and all attempts after it as well: until the other has written.
    options.patience = std::time::Duration::from_secs(29);
    let slow = RedisStore::new(options).unwrap();
    let other = RedisStore::new(patient(server.address())).unwrap();
    let task = TaskId::random();
    between.lose.store(u32::MAX, Ordering::SeqCst);
    let writer = {
        let slow = slow.clone();
        tokio::spawn(async move {
            let written = slow.write(task, "a", "first", Expect::Any).await;
            let sequence = slow.append(task, "log", "first", "").await;
            (written, sequence)
        })
    };
    while other.read(task, "a").await.unwrap().is_none() {
        tokio::task::yield_now().await;
    }
    let written = other.write(task, "a", "second", Expect::Any).await.unwrap();
    assert_eq!(written, Written::Done { version: 2 });
    between.lose.store(1, Ordering::SeqCst);
    let (written, sequence) = writer.await.unwrap();
    assert_eq!(written.unwrap(), Written::Done { version: 1 });
    assert_eq!(sequence.unwrap(), 1);
    let there = other.read(task, "a").await.unwrap();
    assert_eq!(there, Some(Stored::new(2, "second")));
    let tail = other.tail(task, "log", 0, 9).await.unwrap();
    assert_eq!(tail.entries, [Logged::new(1, "first", "")]);
}

#[tokio::test]
async fn a_repeated_forget_does_not_drop_what_came_in_between() {
    let server = Server::start();
    let between = Between::new(&server);
    let slow = RedisStore::new(patient(between.address())).unwrap();
    let other = RedisStore::new(patient(server.address())).unwrap();
    let task = TaskId::random();
    let _ = other.write(task, "a", "old", Expect::Any).await.unwrap();
    between.lose.store(u32::MAX, Ordering::SeqCst);
    let forgetting = tokio::spawn(async move { slow.forget(task).await });
    while other.read(task, "a").await.unwrap().is_some() {
        tokio::task::yield_now().await;
    }
    let _ = other.write(task, "a", "new", Expect::Any).await.unwrap();
    between.lose.store(0, Ordering::SeqCst);
    forgetting.await.unwrap().unwrap();
    let there = other.read(task, "a").await.unwrap();
    assert_eq!(there, Some(Stored::new(1, "new")));
}

#[tokio::test]
async fn a_repeated_removal_does_not_drop_what_came_in_between() {
    let server = Server::start();
    let between = Between::new(&server);
    let slow = RedisStore::new(patient(between.address())).unwrap();
    let other = RedisStore::new(patient(server.address())).unwrap();
    let task = TaskId::random();
    let _ = other.write(task, "a", "old", Expect::Any).await.unwrap();
    between.lose.store(u32::MAX, Ordering::SeqCst);
    let removing = tokio::spawn(async move { slow.remove(task, &["a"]).await });
    while other.read(task, "a").await.unwrap().is_some() {
        tokio::task::yield_now().await;
    }
    let _ = other.write(task, "a", "new", Expect::Any).await.unwrap();
    between.lose.store(0, Ordering::SeqCst);
    removing.await.unwrap().unwrap();
    let there = other.read(task, "a").await.unwrap();
    assert_eq!(there, Some(Stored::new(1, "new")));
}
