//! Several backends on one store, each with a listener of its own.

use std::sync::Arc;
use std::time::Duration;

use contract_manifest::ToManifest as _;
use contract_runtime::{Content, DynamicSpec, Registry, Tool, ToolCall};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use crate::backend::settings::Sharing;
use crate::protocol::TaskId;
use crate::simulation::fake_leases::FakeLeases;
use crate::store::task_store::{Claim, Process, TaskStore};
use crate::store::{EmbeddedStore, Store};
use crate::{Backend, BackendHandle, Executor, ExecutorHandle, Reconnect, RemoteError, Token};

type Tested = Result<(), Box<dyn std::error::Error>>;

/// For what a busy machine may take its time with.
const SOON: Duration = Duration::from_secs(60);

fn tools() -> Registry {
    let spec = DynamicSpec::new("note", "Do something.");
    let note = Tool::dynamic(spec, |_| async { Ok::<_, &str>(Content::text("done")) });
    Registry::builder().with(note).build().unwrap()
}

/// What backends share.
struct Shared {
    store: Arc<EmbeddedStore>,
    leases: FakeLeases,
}

impl Shared {
    fn new() -> Self {
        Self {
            store: Arc::new(EmbeddedStore::in_memory().unwrap()),
            leases: FakeLeases::of_test(),
        }
    }

    /// A backend that shares, with a handle on its lease.
    async fn backend(
        &self,
        name: &str,
        change: impl FnOnce(Backend) -> Backend,
    ) -> Result<(BackendHandle, FakeLeases), RemoteError> {
        let mut backend = Backend::new(tools().manifest());
        let leases = self.leases.new_handle();
        backend.settings.store = Some(Arc::clone(&self.store) as _);
        backend.settings.sharing = Some(Sharing {
            leases: Arc::new(leases.clone()),
            name: name.into(),
        });
        let backend = change(backend).bind("127.0.0.1:0").await?;
        Ok((backend, leases))
    }
}

/// Where a backend listens.
fn host(backend: &BackendHandle) -> String {
    let url = backend.shared.listener.url_of(TaskId::random());
    let host = url.split('/').nth(2);
    host.unwrap_or_default().to_owned()
}

fn executor(at: &BackendHandle, task: TaskId, token: &Token) -> ExecutorHandle {
    let reconnect = Reconnect::default()
        .first(Duration::from_millis(10))
        .most(Duration::from_millis(100));
    let url = at.shared.listener.url_of(task);
    let executor = Executor::new(tools()).reconnect(reconnect);
    executor.connect(url, Token::from(token.reveal()))
}

/// An address at which nobody listens.
async fn nowhere() -> std::io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    Ok(format!("ws://{}", listener.local_addr()?))
}

/// The status of an answer to the request of an executor, and what it says about when to retry.
async fn ask(
    host: &str,
    task: TaskId,
    token: &Token,
    more: &[&str],
) -> std::io::Result<(u16, Option<u64>)> {
    let token = token.reveal();
    let mut lines = vec![
        format!("GET /executor/{task} HTTP/1.1"),
        "Host: there".to_owned(),
        "Connection: Upgrade".to_owned(),
        "Upgrade: websocket".to_owned(),
        "Sec-WebSocket-Version: 13".to_owned(),
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==".to_owned(),
        format!("Authorization: Bearer {token}"),
    ];
    lines.extend(more.iter().map(|line| (*line).to_owned()));
    let answer = exchange(host, &lines).await?;
    let status = answer
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    let retry = answer
        .lines()
        .find_map(|line| line.strip_prefix("retry-after: "));
    Ok((
        status.unwrap_or_default(),
        retry.and_then(|seconds| seconds.parse().ok()),
    ))
}

/// The head of an answer.
async fn exchange(host: &str, lines: &[String]) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(host).await?;
    let request = lines.join("\r\n") + "\r\n\r\n";
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    while !answer.windows(4).any(|end| end == b"\r\n\r\n") {
        if timeout(SOON, stream.read_buf(&mut answer)).await?? == 0 {
            break;
        }
    }
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

async fn until(what: impl Fn() -> bool) -> Tested {
    let wait = async {
        while !what() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    Ok(timeout(SOON, wait).await?)
}

#[tokio::test]
async fn a_connection_is_forwarded_to_the_home_of_its_task() -> Tested {
    let shared = Shared::new();
    let (home, _) = shared.backend("home", |backend| backend).await?;
    let (other, _) = shared.backend("other", |backend| backend).await?;
    let (task, token) = home.task().await?;
    let executor = executor(&other, task.id(), &token);
    let session = timeout(SOON, task.attached()).await??;
    let call = ToolCall::new("1", "note", "{}");
    let outcome = timeout(SOON, session.registry().call(call)).await?;
    assert_eq!(outcome.output(), Some("done"), "{outcome:?}");
    assert_eq!((home.state().attached, other.state().attached), (1, 0));
    assert_eq!(
        (home.state().connections, other.state().connections),
        (1, 1)
    );
    assert_eq!(other.state().tasks, 0);
    session.finish(true, "").await;
    timeout(SOON, executor.ended()).await??;
    until(|| home.state().connections == 0 && other.state().connections == 0).await
}

#[tokio::test]
async fn the_home_decides_about_a_connection_that_is_forwarded() -> Tested {
    let shared = Shared::new();
    let (home, _) = shared.backend("home", |backend| backend).await?;
    let page = "https://page.example";
    let lax = |backend: Backend| backend.origins([page]);
    let (other, _) = shared.backend("other", lax).await?;
    let (task, token) = home.task().await?;
    assert_eq!(ask(&host(&other), task.id(), &token, &[]).await?.0, 101);
    let origin = format!("Origin: {page}");
    let (status, retry) = ask(&host(&other), task.id(), &token, &[&origin]).await?;
    assert_eq!((status, retry), (503, Some(1)));
    assert_eq!(home.state().rejections.origin, 1);
    // What the other one refuses does not reach it.
    let wrong = Token::from("wrong");
    assert_eq!(ask(&host(&other), task.id(), &wrong, &[]).await?.0, 401);
    assert_eq!(home.state().rejections.token, 0);
    Ok(())
}

#[tokio::test]
async fn a_home_is_replaced_when_its_lease_has_expired_and_not_before() -> Tested {
    let shared = Shared::new();
    let there = nowhere().await?;
    let away = |backend: Backend| backend.peer_url(&*there);
    let (home, lease) = shared.backend("home", away).await?;
    let (other, _) = shared.backend("other", |backend| backend).await?;
    let (task, token) = home.task().await?;
    let (status, retry) = ask(&host(&other), task.id(), &token, &[]).await?;
    assert_eq!((status, retry), (503, Some(1)));
    assert_eq!(other.taken_over(), []);

    lease.part("home", true);
    // Only for somebody who has the token, and not on the word of another backend.
    let wrong = Token::from("wrong");
    assert_eq!(ask(&host(&other), task.id(), &wrong, &[]).await?.0, 401);
    let marked = ["contract-forwarded: 1"];
    assert_eq!(ask(&host(&other), task.id(), &token, &marked).await?.0, 503);
    assert_eq!(other.taken_over(), []);
    let executor = executor(&other, task.id(), &token);
    until(|| other.state().attached == 1).await?;
    assert_eq!(other.taken_over(), [task.id()]);

    let lost = timeout(SOON, task.attached()).await?;
    assert!(
        matches!(lost, Err(RemoteError::TakenOver { .. })),
        "{lost:?}"
    );
    let task = other.reopen(task.id()).await?.ok_or("the task is gone")?;
    assert_eq!(other.taken_over(), []);
    let session = timeout(SOON, task.attached()).await??;
    let call = ToolCall::new("1", "note", "{}");
    let outcome = timeout(SOON, session.registry().call(call)).await?;
    assert_eq!(outcome.output(), Some("done"), "{outcome:?}");
    session.finish(true, "").await;
    timeout(SOON, executor.ended()).await??;
    Ok(())
}

#[tokio::test]
async fn a_home_that_has_shut_down_gives_its_tasks_up() -> Tested {
    let shared = Shared::new();
    let (home, _) = shared.backend("home", |backend| backend).await?;
    let (other, _) = shared.backend("other", |backend| backend).await?;
    let (task, token) = home.task().await?;
    let executor = executor(&other, task.id(), &token);
    timeout(SOON, task.attached()).await??;
    home.shutdown(Duration::ZERO).await;
    until(|| other.taken_over() == [task.id()] && other.state().attached == 1).await?;
    drop(executor);
    Ok(())
}

/// A backend that cannot renew its lease has its tasks all the same.
#[tokio::test]
async fn a_home_that_can_be_reached_keeps_its_tasks_without_a_lease() -> Tested {
    let shared = Shared::new();
    let (home, lease) = shared.backend("home", |backend| backend).await?;
    let (other, _) = shared.backend("other", |backend| backend).await?;
    let (task, token) = home.task().await?;
    lease.part("home", true);
    let _executor = executor(&other, task.id(), &token);
    timeout(SOON, task.attached()).await??;
    assert_eq!(other.taken_over(), []);
    Ok(())
}

#[tokio::test]
async fn a_task_that_was_taken_over_and_is_not_used_is_dropped_and_found_again() -> Tested {
    let shared = Shared::new();
    let (home, _) = shared.backend("home", |backend| backend).await?;
    let (other, _) = shared.backend("other", |backend| backend).await?;
    let (task, token) = home.task().await?;
    let id = task.id();
    drop((task, home));
    for _ in 0..2 {
        let executor = executor(&other, id, &token);
        until(|| other.taken_over() == [id] && other.state().attached == 1).await?;
        drop(executor);
        until(|| other.taken_over().is_empty() && other.state().tasks == 0).await?;
    }
    Ok(())
}

/// Otherwise a wrong address would lead a connection round in circles.
#[tokio::test]
async fn no_connection_is_forwarded_twice() -> Tested {
    let shared = Shared::new();
    let (other, _) = shared.backend("other", |backend| backend).await?;
    let there = format!("ws://{}", host(&other));
    let wrong = |backend: Backend| backend.peer_url(there);
    let (home, _) = shared.backend("home", wrong).await?;
    let (task, token) = home.task().await?;
    let (status, retry) = ask(&host(&other), task.id(), &token, &[]).await?;
    assert_eq!((status, retry), (503, Some(1)));
    // The executor, and the backend itself.
    assert_eq!(other.state().rejections.closed, 2);
    Ok(())
}

#[tokio::test]
async fn an_earlier_home_is_told_that_its_task_has_moved() -> Tested {
    let shared = Shared::new();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let there = format!("ws://{}", listener.local_addr()?);
    let observed = |backend: Backend| backend.peer_url(there);
    let (home, _) = shared.backend("home", observed).await?;
    let (other, _) = shared.backend("other", |backend| backend).await?;
    let (task, _) = home.task().await?;
    let _task = other.reopen(task.id()).await?.ok_or("the task is gone")?;
    let (mut stream, _) = timeout(SOON, listener.accept()).await??;
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        timeout(SOON, stream.read_buf(&mut request)).await??;
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    assert!(
        request.starts_with(&format!("GET /executor/{} ", task.id())),
        "{request}"
    );
    assert!(request.contains("\r\ncontract-moved: 1\r\n"), "{request}");
    assert!(
        !request.to_lowercase().contains("authorization"),
        "{request}"
    );
    Ok(())
}

#[tokio::test]
async fn a_backend_that_is_told_that_a_task_has_moved_looks_for_itself() -> Tested {
    let shared = Shared::new();
    let (home, _) = shared.backend("home", |backend| backend).await?;
    let (task, _) = home.task().await?;
    let tell = async || {
        let lines = [
            format!("GET /executor/{} HTTP/1.1", task.id()),
            "Host: there".to_owned(),
            "contract-moved: 1".to_owned(),
        ];
        exchange(&host(&home), &lines).await
    };
    assert!(tell().await?.starts_with("HTTP/1.1 200"));
    assert_eq!(home.state().tasks, 1, "it has not moved");

    let store: Arc<dyn Store> = Arc::clone(&shared.store) as _;
    let process = Process {
        backend: "other".to_owned(),
        run: "1".to_owned(),
        url: "ws://nowhere".to_owned(),
    };
    let mut task_store = TaskStore::new(store, task.id());
    let claimed = task_store.claim_ownership(&process, None).await?;
    assert_ne!(claimed, Claim::Lost);
    assert!(tell().await?.starts_with("HTTP/1.1 200"));
    assert_eq!(home.state().tasks, 0);
    Ok(())
}

#[tokio::test]
async fn a_backend_that_listens_everywhere_must_say_where_others_reach_it() -> Tested {
    let shared = Shared::new();
    let bind = async |url: Option<&str>| {
        let mut backend = Backend::new(tools().manifest());
        backend.settings.sharing = Some(Sharing {
            leases: Arc::new(shared.leases.new_handle()),
            name: url.unwrap_or("none").into(),
        });
        if let Some(url) = url {
            backend = backend.peer_url(url);
        }
        backend.bind("0.0.0.0:0").await
    };
    for url in [None, Some("http://a"), Some("ws://user:secret@a"), Some("")] {
        let refused = bind(url).await.err().ok_or("it listens")?;
        let told = refused.to_string();
        assert!(
            matches!(
                refused,
                RemoteError::Url {
                    setting: "peer_url",
                    ..
                }
            ),
            "{told}"
        );
        assert!(
            told.contains("peer_url") && !told.contains("secret"),
            "{told}"
        );
    }
    bind(Some("ws://a")).await?;
    Ok(())
}

#[cfg(feature = "tls")]
#[tokio::test]
async fn a_connection_is_forwarded_over_tls_to_a_home_that_is_trusted() -> Tested {
    let of_home = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()])?;
    let (certificate, key) = (of_home.cert.pem(), of_home.signing_key.serialize_pem());
    let shared = Shared::new();
    let encrypted = |backend: Backend| backend.tls(&certificate, &key).unwrap();
    let (home, _) = shared.backend("home", encrypted).await?;
    let trusting = |backend: Backend| backend.peer_roots(&certificate).unwrap();
    let (trusts, _) = shared.backend("trusts", trusting).await?;
    let (other, _) = shared.backend("other", |backend| backend).await?;
    let (task, token) = home.task().await?;
    let (status, _) = ask(&host(&trusts), task.id(), &token, &[]).await?;
    assert_eq!(status, 101);
    let (status, _) = ask(&host(&other), task.id(), &token, &[]).await?;
    assert_eq!(status, 503, "the home is not trusted there");
    Ok(())
}
