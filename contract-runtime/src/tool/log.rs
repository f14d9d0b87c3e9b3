//! What a running call tells people: log messages, and how far it has come.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::contract::panics::guard;

/// Tells people what a call does: its body writes messages, and a terminal, a page or the client of a server shows them.
///
/// It is for people: a model reads the result alone. Without a listener a message goes nowhere and costs nothing.
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use contract_runtime::prelude::*;
///
/// /// Look something up.
/// #[tool(read_only)]
/// fn find(word: String, #[context] log: &Log) -> usize {
///     log.info(format_args!("looking for {word}"));
///     word.len()
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
/// let registry = Registry::builder().tool(find).build()?;
/// let heard = Arc::new(Mutex::new(Vec::new()));
/// let listener = Arc::clone(&heard);
/// let context = Context::new().log(move |record| listener.lock().unwrap().push(record.to_string()));
/// registry.call(ToolCall::new("1", "find", r#"{"word":"tea"}"#)).context(context).await;
/// assert_eq!(*heard.lock().unwrap(), ["info: find: looking for tea"]);
/// # Ok(()) }
/// ```
#[derive(Clone, Default)]
pub struct Log {
    listeners: Vec<Arc<Listener>>,
    call: Option<Arc<(String, String)>>,
}

type Listener = dyn Fn(&LogRecord) + Send + Sync;

/// How much a log message matters (RFC 5424, section 6.2.1); a greater one matters more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    /// Information for finding a fault.
    Debug,
    /// What happens.
    Info,
    /// What is normal and worth knowing.
    Notice,
    /// What may become an error.
    Warning,
    /// Something went wrong.
    Error,
    /// Something went wrong that others depend on.
    Critical,
    /// Action is needed at once.
    Alert,
    /// Nothing works any more.
    Emergency,
}

/// One log message of a running call.
///
/// ```
/// use contract_runtime::LogLevel;
/// use contract_runtime::prelude::*;
///
/// /// Water the plants.
/// #[tool]
/// fn water(#[context] log: &Log) {
///     log.info("the can is full");
///     log.warning("the fern is dry");
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
/// let registry = Registry::builder().tool(water).build()?;
/// let (sender, heard) = std::sync::mpsc::channel();
/// let context = Context::new().log(move |record| {
///     if record.level >= LogLevel::Warning {
///         let _ = sender.send(format!("[{}] {}", record.call_id, record.message));
///     }
/// });
/// registry.call(ToolCall::new("7", "water", "")).context(context).await;
/// assert_eq!(heard.iter().collect::<Vec<_>>(), ["[7] the fern is dry"]);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LogRecord {
    /// How much it matters.
    pub level: LogLevel,
    /// The message.
    pub message: String,
    /// The caller's id of the call; empty outside of one.
    pub call_id: String,
    /// The name by which the tool was called; empty outside of a call.
    pub tool: String,
}

impl Log {
    /// Says what happens.
    pub fn info(&self, message: impl fmt::Display) {
        self.log(LogLevel::Info, message);
    }

    /// Says what may become an error.
    pub fn warning(&self, message: impl fmt::Display) {
        self.log(LogLevel::Warning, message);
    }

    /// Says what went wrong, although the call goes on.
    pub fn error(&self, message: impl fmt::Display) {
        self.log(LogLevel::Error, message);
    }

    /// Writes a message of this level. It is formatted only if there is a listener.
    pub fn log(&self, level: LogLevel, message: impl fmt::Display) {
        if !self.is_heard() {
            return;
        }
        let (call_id, tool) = self.call.as_deref().cloned().unwrap_or_default();
        let message = message.to_string();
        let record = LogRecord {
            level,
            message,
            call_id,
            tool,
        };
        for listener in &self.listeners {
            // Where one panics, the tool is not at fault, and the others are told as well.
            let _ = guard(|| listener(&record));
        }
    }

    pub(super) fn listen(&mut self, hears: impl Fn(&LogRecord) + Send + Sync + 'static) {
        self.listeners.push(Arc::new(hears));
    }

    /// Returns whether anybody listens.
    #[must_use]
    pub fn is_heard(&self) -> bool {
        !self.listeners.is_empty()
    }

    /// Returns a copy for the messages of one call.
    pub(crate) fn of_call(&self, id: &str, tool: &str) -> Self {
        let call = || Arc::new((id.to_owned(), tool.to_owned()));
        Self {
            listeners: self.listeners.clone(),
            call: self.is_heard().then(call),
        }
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log")
            .field("is_heard", &self.is_heard())
            .finish()
    }
}

impl LogLevel {
    /// Returns its name, as in the Model Context Protocol.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }
}

impl fmt::Display for LogLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for LogRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.level, self.tool, self.message)
    }
}

/// Reports how far a call has come, from its body to its caller.
///
/// Without a listener, a report goes nowhere and costs nothing.
///
/// ```
/// use contract_runtime::prelude::*;
///
/// /// Warm the cache.
/// #[tool]
/// fn warm(#[context] progress: &Progress) {
///     progress.report(1.0, Some(2.0), "half way");
/// }
///
/// let registry = Registry::builder().tool(warm).build()?;
/// assert!(registry.call(ToolCall::new("1", "warm", "")).blocking().is_ok());
/// # Ok::<(), contract_runtime::BuildError>(())
/// ```
#[derive(Clone, Default)]
pub struct Progress {
    listener: Option<Arc<dyn Fn(ProgressReport) + Send + Sync>>,
}

/// One progress report of a running call.
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use contract_runtime::Progress;
///
/// let seen = Arc::new(Mutex::new(Vec::new()));
/// let told = Arc::clone(&seen);
/// let progress = Progress::new(move |report| told.lock().unwrap().push(report));
/// progress.report(1.0, Some(3.0), "reading");
/// assert_eq!(seen.lock().unwrap()[0].message, "reading");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ProgressReport {
    /// How much is done, in the unit of `total`.
    pub done: f64,
    /// How much there is to do, if that is known.
    pub total: Option<f64>,
    /// What is being done.
    pub message: String,
}

impl Progress {
    /// Creates a progress whose reports go to `listener`, which must be quick.
    #[must_use]
    pub fn new(listener: impl Fn(ProgressReport) + Send + Sync + 'static) -> Self {
        Self {
            listener: Some(Arc::new(listener)),
        }
    }

    pub(super) fn is_heard(&self) -> bool {
        self.listener.is_some()
    }

    /// Reports how far the call has come.
    pub fn report(&self, done: f64, total: Option<f64>, message: impl Into<String>) {
        if let Some(listener) = &self.listener {
            let message = message.into();
            let report = ProgressReport {
                done,
                total,
                message,
            };
            // The tool is not at fault where a listener panics.
            let _ = guard(|| listener(report));
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress")
            .field("is_heard", &self.listener.is_some())
            .finish()
    }
}
