//! Forwards the connection of an executor to the home of its task, byte for byte.

use std::time::Duration;

use hyper::header::{
    AUTHORIZATION, CONNECTION, HeaderName, HeaderValue, ORIGIN, RETRY_AFTER, SEC_WEBSOCKET_ACCEPT,
    SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper::{HeaderMap, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, copy_bidirectional};
use tokio::time::timeout;
use tokio_io_timeout::TimeoutStream;

use super::Unreachable;
#[cfg(feature = "tls")]
use crate::tls::Roots;
use crate::ws_connect::{Target, WsConnectError, send_request};

/// Marks a connection that a backend forwards, so that none is forwarded twice.
const FORWARDED: HeaderName = HeaderName::from_static("contract-forwarded");

/// How long the home may take to answer; an executor waits twice as long.
pub(super) const DIAL_TIMEOUT: Duration = Duration::from_secs(5);

/// The shortest time after which a silent connection is considered broken: the home may take that long over a handshake.
const MIN_SILENCE: Duration = Duration::from_secs(30);

/// The headers that the home decides by.
const PASSED: [HeaderName; 6] = [
    AUTHORIZATION,
    CONNECTION,
    ORIGIN,
    SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_VERSION,
    UPGRADE,
];

/// A connection to the home of a task, which has accepted the request of an executor.
#[derive(Debug)]
pub(in crate::backend) struct Forwarding {
    accept: HeaderValue,
    home: Upgraded,
}

/// Whether another backend forwards this request.
pub(in crate::backend) fn is_forwarded(headers: &HeaderMap) -> bool {
    headers.contains_key(FORWARDED)
}

/// Sends the request of an executor to the home of its task, which checks it as if it had come directly.
pub(in crate::backend) async fn dial(
    url: &str,
    (path, headers): (&str, &HeaderMap),
    #[cfg(feature = "tls")] roots: Option<&Roots>,
) -> Result<Forwarding, Unreachable> {
    let failed = |why: String| {
        tracing::warn!(url, why, "the home of a task cannot be reached");
        Unreachable { retry_after: None }
    };
    let dialled = async {
        let target = Target::new(url)?;
        let mut forwarded = target
            .get(path)
            .header(FORWARDED, "1")
            .body(String::new())
            .map_err(|error| WsConnectError::Permanent(error.to_string()))?;
        for name in PASSED {
            for value in headers.get_all(&name) {
                let mut value = value.clone();
                value.set_sensitive(name == AUTHORIZATION);
                forwarded.headers_mut().append(name.clone(), value);
            }
        }
        let stream = target
            .connect(
                #[cfg(feature = "tls")]
                roots,
            )
            .await?;
        send_request(stream, forwarded).await
    };
    let (response, home) = match timeout(DIAL_TIMEOUT, dialled).await {
        Ok(Ok(answered)) => answered,
        Ok(Err(error)) => return Err(failed(error.to_string())),
        Err(_) => return Err(failed(format!("no answer came within {DIAL_TIMEOUT:?}"))),
    };
    let accept = response.headers().get(SEC_WEBSOCKET_ACCEPT);
    if let (Some(home), Some(accept)) = (home, accept) {
        let accept = accept.clone();
        return Ok(Forwarding { accept, home });
    }
    let status = response.status();
    // It shuts down, has too many executors, or has not opened the task.
    if status == StatusCode::SERVICE_UNAVAILABLE {
        let retry_after = response.headers().get(RETRY_AFTER);
        return Err(Unreachable {
            retry_after: retry_after.and_then(|seconds| seconds.to_str().ok()?.parse().ok()),
        });
    }
    Err(failed(format!("it answered {status}")))
}

impl Forwarding {
    /// Returns the answer of the home.
    pub(in crate::backend) fn response(&self) -> Response<String> {
        let mut response = Response::new(String::new());
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = response.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(SEC_WEBSOCKET_ACCEPT, self.accept.clone());
        response
    }

    /// Forwards bytes in both directions until the connection ends.
    pub(in crate::backend) async fn run(
        self,
        executor: OnUpgrade,
        keep_alive: Duration,
        unread: Duration,
    ) {
        let silence = keep_alive.saturating_mul(2).max(MIN_SILENCE);
        if let Ok(executor) = executor.await {
            let (executor, home) = (TokioIo::new(executor), TokioIo::new(self.home));
            pass(executor, home, silence, unread).await;
        }
    }
}

/// Forwards bytes in both directions, until a side closes, sends nothing for `silence` or reads nothing for `unread`: both
/// send a ping or its answer in each keep-alive.
async fn pass<E, H>(executor: E, home: H, silence: Duration, unread: Duration)
where
    E: AsyncRead + AsyncWrite,
    H: AsyncRead + AsyncWrite,
{
    let mut executor = Box::pin(TimeoutStream::new(executor));
    executor.as_mut().set_read_timeout_pinned(Some(silence));
    executor.as_mut().set_write_timeout_pinned(Some(unread));
    let mut home = Box::pin(TimeoutStream::new(home));
    home.as_mut().set_read_timeout_pinned(Some(silence));
    home.as_mut().set_write_timeout_pinned(Some(unread));
    // A connection may break: the executor reconnects.
    let _ = copy_bidirectional(&mut executor, &mut home).await;
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
    use tokio::task::JoinHandle;
    use tokio::time::{Instant, sleep};

    use super::*;

    const SILENCE: Duration = Duration::from_secs(60);
    const UNREAD: Duration = Duration::from_secs(20);

    /// An executor and a home, and what is between them; each buffer holds 64 bytes.
    fn forwarded() -> (DuplexStream, DuplexStream, JoinHandle<()>) {
        let (executor, near) = duplex(64);
        let (home, far) = duplex(64);
        let passing = tokio::spawn(pass(near, far, SILENCE, UNREAD));
        (executor, home, passing)
    }

    #[tokio::test(start_paused = true)]
    async fn what_one_side_sends_before_it_closes_arrives() {
        let (mut executor, mut home, passing) = forwarded();
        let sent: Vec<u8> = (0..=u8::MAX).cycle().take(10_000).collect();
        let (out, back) = (sent.clone(), sent.clone());
        let replies = tokio::spawn(async move {
            let mut heard = vec![0; back.len()];
            home.read_exact(&mut heard).await.unwrap();
            home.write_all(&heard).await.unwrap();
        });
        let (mut read, mut write) = tokio::io::split(&mut executor);
        let mut heard = Vec::new();
        let (said, got) = tokio::join!(write.write_all(&out), read.read_to_end(&mut heard));
        said.unwrap();
        got.unwrap();
        assert!(heard == sent, "{} bytes", heard.len());
        replies.await.unwrap();
        drop(executor);
        passing.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_on_which_a_side_falls_silent_is_closed() {
        let (mut executor, home, passing) = forwarded();
        let began = Instant::now();
        // The home says nothing, and its machine may be gone.
        let talks = tokio::spawn(async move {
            while executor.write_all(b"pong").await.is_ok() {
                sleep(SILENCE / 4).await;
            }
        });
        passing.await.unwrap();
        assert_eq!(began.elapsed(), SILENCE);
        talks.await.unwrap();
        drop(home);
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_on_which_a_side_reads_nothing_is_closed() {
        let (mut executor, home, passing) = forwarded();
        let began = Instant::now();
        let floods =
            tokio::spawn(async move { while executor.write_all(b"more").await.is_ok() {} });
        passing.await.unwrap();
        assert_eq!(began.elapsed(), UNREAD);
        floods.await.unwrap();
        drop(home);
    }
}
