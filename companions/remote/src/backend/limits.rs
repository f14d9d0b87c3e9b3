use std::time::Duration;

/// How many connections a backend holds, and how fast it takes them.
///
/// ```
/// use contract_runtime::remote::ConnectionLimits;
///
/// let mut small = ConnectionLimits::default();
/// assert_eq!((small.connections, small.per_second), (16_384, 256));
/// small.connections = 100;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConnectionLimits {
    /// Connections at a time, those that have not shown a token yet included. The system has to allow as many open files.
    pub connections: usize,
    /// Connections at a time that show the token of one task.
    pub per_task: usize,
    /// Executors that are let in per second, in the long run.
    pub per_second: u32,
    /// Executors that are let in at once, after a time in which none came.
    pub burst: u32,
    /// How often the executor of one task is let in within a minute.
    pub per_task_and_minute: u32,
    /// How long a header may take, and so may the handshake of TLS before it.
    pub header: Duration,
    /// How long a peer may leave unread what waits for it.
    pub unread: Duration,
}

impl Default for ConnectionLimits {
    /// 16,384 connections, 4 for a task; 256 executors per second after 512 at once, 120 per minute for a task; 5 seconds for
    /// a header, 20 for a peer that does not read.
    ///
    /// 5,000 executors that lost one backend are back within 18 seconds. A task has more than one connection only while
    /// an executor takes over from one that is gone without a word, and one that dials as [`Executor`](crate::remote::Executor)
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
