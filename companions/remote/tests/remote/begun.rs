//! How a backend and an executor begin, and what is refused before they do.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use contract_runtime::remote::{Backend, Executor, RemoteError};

use crate::tools::{Tested, registry};

#[tokio::test]
async fn an_address_that_no_executor_can_dial_is_refused_at_once() -> Tested {
    let manifest = registry(&Arc::default())?.manifest();
    let bound = |base: &'static str| {
        let backend = Backend::new(manifest.clone()).reached_at(base);
        async move { backend.bind("127.0.0.1:0").await }
    };
    for (base, why) in [
        ("", "none"),
        ("tools.example", "begins with `ws://` or `wss://`"),
        ("https://tools.example", "begins with `ws://` or `wss://`"),
        ("ws://", "begins with `ws://` or `wss://`"),
        ("wss://tools.example?token=secret", "takes no query"),
        ("wss://tools.example#secret", "takes no fragment"),
        ("wss://name:secret@tools.example", "takes no password"),
        ("wss://tools.example:port", "none"),
        ("wss://tools.example:70000", "none"),
        ("wss://tools.example/a b", "none"),
        ("wss://tools.example\u{1b}[2J", "none"),
    ] {
        let error = bound(base).await.err().ok_or(base)?;
        assert!(matches!(error, RemoteError::ReachedAt { .. }), "{error:?}");
        let told = error.to_string();
        assert!(told.contains(why), "{base}: {told}");
        assert!(
            told.contains("reached_at") && !told.contains("secret"),
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
fn at_once<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

#[test]
fn without_a_runtime_both_sides_say_so() -> Tested {
    let tools = registry(&Arc::default())?;
    let bound = at_once(Backend::new(tools.manifest()).bind("127.0.0.1:0"));
    let error = bound.and_then(Result::err).ok_or("it listens")?;
    assert!(matches!(error, RemoteError::NoRuntime), "{error:?}");
    let connected = Executor::new(tools).connect("ws://127.0.0.1:9/executor/x", "token");
    let ended = at_once(connected.ended()).ok_or("it works")?;
    let error = ended.err().ok_or("it has done its work")?;
    assert!(matches!(error, RemoteError::NoRuntime), "{error:?}");
    assert!(error.to_string().contains("tokio"), "{error}");
    Ok(())
}
