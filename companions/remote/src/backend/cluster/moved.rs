//! A hint to an earlier home that another backend has reopened its task: it checks that in the store.

use hyper::HeaderMap;
use hyper::header::HeaderName;
use tokio::time::timeout;

use super::forward::DIAL_TIMEOUT;
use crate::backend::listener::Listener;
use crate::protocol::TaskId;
use crate::ws_connect::{Target, WsConnectError, send_request};

/// Marks a request that is only a hint.
const MOVED: HeaderName = HeaderName::from_static("contract-moved");

/// Returns the task that a request says has moved. Anybody may say so, which costs one look into the store.
pub(in crate::backend) fn moved_task(path: &str, headers: &HeaderMap) -> Option<TaskId> {
    let id = path.strip_prefix("/executor/")?;
    headers.contains_key(MOVED).then(|| id.parse().ok())?
}

/// Tells an earlier home that a task has moved. A hint that is lost only delays what the home finds out by itself.
pub(in crate::backend) fn tell_moved(url: String, task: TaskId, listener: &Listener) {
    #[cfg(feature = "tls")]
    let roots = listener.peer_roots.clone();
    #[cfg(not(feature = "tls"))]
    let _ = listener;
    tokio::spawn(async move {
        let told = async {
            let target = Target::new(&url)?;
            let request = target
                .get(&format!("/executor/{task}"))
                .header(MOVED, "1")
                .body(String::new())
                .map_err(|error| WsConnectError::Permanent(error.to_string()))?;
            let stream = target
                .connect(
                    #[cfg(feature = "tls")]
                    roots.as_ref(),
                )
                .await?;
            send_request(stream, request).await
        };
        if let Ok(Err(error)) = timeout(DIAL_TIMEOUT, told).await {
            tracing::debug!(%task, %error, "the earlier home of a task cannot be told that it has moved");
        }
    });
}
