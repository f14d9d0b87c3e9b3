//! How a backend and an executor begin, and what is refused before they do.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use contract_manifest::ToManifest as _;
use contract_remote::{Backend, Executor, RemoteError};

use crate::tools::{Tested, registry};

#[tokio::test]
async fn an_address_that_no_executor_can_dial_is_refused_at_once() -> Tested {
    let manifest = registry(&Arc::default())?.manifest();
    let bound = |base: &'static str| {
        let backend = Backend::new(manifest.clone()).public_url(base);
        async move { backend.bind("127.0.0.1:0").await }
    };
    for (base, why) in [
        ("", "not valid"),
        ("tools.example", "must begin with `ws://` or `wss://`"),
        (
            "https://tools.example",
            "must begin with `ws://` or `wss://`",
        ),
        ("ws://", "must begin with `ws://` or `wss://`"),
        ("wss://tools.example?token=secret", "must not have a query"),
        ("wss://tools.example#secret", "must not have a fragment"),
        (
            "wss://name:secret@tools.example",
            "must not have a password",
        ),
        ("wss://tools.example:port", "not valid"),
        ("wss://tools.example:70000", "not valid"),
        ("wss://tools.example/a b", "not valid"),
        ("wss://tools.example\u{1b}[2J", "not valid"),
    ] {
        let error = bound(base).await.err().ok_or(base)?;
        assert!(matches!(error, RemoteError::Url { .. }), "{error:?}");
        let told = error.to_string();
        assert!(told.contains(why), "{base}: {told}");
        assert!(
            told.contains("public_url") && !told.contains("secret"),
            "{told}"
        );
        assert!(!told.contains('\u{1b}'), "{told:?}");
    }
    for (base, address) in [
        ("wss://tools.example", "wss://tools.example/executor/"),
        ("ws://[::1]:8080/", "ws://[::1]:8080/executor/"),
        (
            "wss://tools.example/some/where//",
            "wss://tools.example/some/where/executor/",
        ),
    ] {
        let backend = bound(base).await?;
        let (task, _) = backend.task().await?;
        assert_eq!(task.address(), format!("{address}{}", task.id()));
    }
    Ok(())
}

/// What a future gives on a thread without any runtime.
fn now_or_never<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

#[test]
fn without_a_runtime_both_sides_say_so() -> Tested {
    let tools = registry(&Arc::default())?;
    let bound = now_or_never(Backend::new(tools.manifest()).bind("127.0.0.1:0"));
    let error = bound.and_then(Result::err).ok_or("it listens")?;
    assert!(matches!(error, RemoteError::NoRuntime), "{error:?}");
    let connected = Executor::new(tools).connect("ws://127.0.0.1:9/executor/x", "token");
    let ended = now_or_never(connected.ended()).ok_or("it works")?;
    let error = ended.err().ok_or("it has done its work")?;
    assert!(matches!(error, RemoteError::NoRuntime), "{error:?}");
    assert!(error.to_string().contains("tokio"), "{error}");
    Ok(())
}
