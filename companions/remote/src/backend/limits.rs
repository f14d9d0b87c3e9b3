//! Connection limits.

use std::time::Duration;

/// How many connections a backend holds, and how fast it accepts them.
///
/// ```
/// use contract_remote::ConnectionLimits;
///
/// let mut small = ConnectionLimits::default();
/// assert_eq!((small.connections, small.per_second), (16_384, 256));
/// small.connections = 100;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConnectionLimits {
    /// Concurrent connections, including those that have not authenticated yet. The system must allow as many open files.
    pub connections: usize,
    /// Concurrent connections that authenticate for one task.
    pub per_task: usize,
    /// Executors accepted per second, on average.
    pub per_second: u32,
    /// Executors accepted in one burst, after an idle time.
    pub burst: u32,
    /// How often the executor of one task is accepted within a minute.
    pub per_task_and_minute: u32,
    /// How long a request header may take, and likewise the TLS handshake before it.
    pub header: Duration,
    /// How long a peer may leave sent data unread.
    pub unread: Duration,
}

impl Default for ConnectionLimits {
    /// 16,384 connections, 4 for a task; 256 executors per second after 512 at once, 120 per minute for a task; 5 seconds for
    /// a header, 20 for a peer that does not read.
    ///
    /// 5,000 executors that lost one backend are back within 18 seconds. A task has more than one connection only while
    /// an executor supersedes one that disconnected silently, and one that reconnects as [`Executor`](crate::Executor)
    /// does comes back less than 60 times in a minute.
    fn default() -> Self {
        Self {
            connections: 16_384,
            per_task: 4,
            per_second: 256,
            burst: 512,
            per_task_and_minute: 120,
            header: Duration::from_secs(5),
            unread: Duration::from_secs(20),
        }
    }
}
