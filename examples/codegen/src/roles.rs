//! Backend and executor as processes of their own, possibly on different machines.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use contract_manifest::ToManifest as _;
use contract_remote::protocol::TaskId;
use contract_remote::store::{EmbeddedStore, Expect, Store};
use contract_remote::{BackendHandle, ExecutorEvent, Journal, Task, Token};
use contract_runtime::Registry;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::demo::RECORDINGS;
use crate::model::Models;
use crate::runs::Engine;
use crate::service::Service;
use crate::tools;

/// How long work in progress may go on when the process is to end.
const DRAIN: Duration = Duration::from_secs(10);

/// Where the store has what belongs to no run: "codegen", as bytes.
const SERVICE: &str = "00000000-0000-4000-8000-636f64656700";

/// The name under which it has the task of the executor.
const TASK: &str = "codegen.task";

/// Why a process ends before it should.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The half that decides.
#[derive(Debug, clap::Args)]
pub struct Backend {
    /// The address to serve chats and the page at; port 0 chooses a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    listen: String,
    /// Another host name of the service, such as that of a proxy; may be repeated.
    #[arg(long, value_name = "HOST")]
    host: Vec<String>,
    /// The file that holds the token of the service; by default one is generated and printed.
    #[arg(long, value_name = "FILE")]
    service_token_file: Option<PathBuf>,
    /// The address at which executors dial in; port 0 chooses a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    executors: String,
    /// The file into which the token of the executor is written.
    #[arg(long, value_name = "FILE", default_value = "executor.token")]
    token_file: PathBuf,
    /// The file that stores runs and calls; by default they are lost when the process ends.
    #[arg(long, value_name = "FILE", conflicts_with = "redis")]
    store: Option<PathBuf>,
    /// The Redis that stores them instead, as in `rediss://host`, with a password in the variable `REDIS_PASSWORD`; no other
    /// backend may use it.
    #[arg(long, value_name = "ADDRESS")]
    redis: Option<String>,
    /// A tool about whose calls a person is asked before they are sent; may be repeated.
    #[arg(long, value_name = "TOOL")]
    confirm: Vec<String>,
    /// The folder of recorded conversations, used when the environment names no provider.
    #[arg(long, value_name = "FOLDER", default_value = RECORDINGS)]
    recordings: PathBuf,
}

impl Backend {
    /// Serves until Ctrl-C or SIGTERM; then the run at work has 10 s to come to its end.
    ///
    /// # Errors
    ///
    /// The cause that kept it from serving.
    pub async fn run(self) -> Result<ExitCode, Failure> {
        let token = match &self.service_token_file {
            Some(path) => read_token(path)?,
            None => Token::from(TaskId::random().to_string()),
        };
        let half = contract_remote::Backend::new(Registry::builder().build()?.manifest());
        let half = self
            .confirm
            .iter()
            .fold(half, contract_remote::Backend::confirm);
        let store = self.open_store()?;
        // Before anything is written: the token in the file may be that of a backend which has these addresses.
        let listener = TcpListener::bind(&self.listen).await;
        let listener =
            listener.map_err(|error| format!("cannot listen on {}: {error}", self.listen))?;
        let address = listener.local_addr()?;
        let listening = half.store(Arc::clone(&store)).bind(&self.executors).await?;
        let task = open_task(&listening, &*store, &self.token_file).await?;
        let told = format!(
            "page      http://{address}/?token={}\nexecutor  {}\ntoken     {}\n",
            token.reveal(),
            task.address(),
            self.token_file.display()
        );
        let models = Models::choose(&self.recordings)?;
        let engine = Arc::new(Engine::open(store, models, task).await?);
        let closing = CancellationToken::new();
        let service = Service::new(
            Arc::clone(&engine),
            listener,
            &self.host,
            token,
            closing.clone(),
        )?;
        // The parent process may close the pipe after the first line; the backend serves all the same.
        let _ = std::io::stdout().write_all(told.as_bytes());
        let ending = async {
            interrupted().await;
            eprintln!("ends when the run at work has ended, or in 10 s");
            engine.shut_down(DRAIN).await;
            // No call is open any more; executors are told to dial again.
            listening.shutdown(Duration::ZERO).await;
            closing.cancel();
        };
        tokio::join!(service.serve(), ending);
        Ok(ExitCode::SUCCESS)
    }

    fn open_store(&self) -> Result<Arc<dyn Store>, Failure> {
        if let Some(address) = &self.redis {
            #[cfg(not(feature = "redis"))]
            return Err(
                format!("build this program with `--features redis` to use {address}").into(),
            );
            #[cfg(feature = "redis")]
            {
                use contract_remote::store::{RedisOptions, RedisStore};
                let mut options = RedisOptions::new(address);
                options.password = std::env::var("REDIS_PASSWORD").ok();
                return Ok(Arc::new(RedisStore::new(options)?));
            }
        }
        let Some(path) = &self.store else {
            eprintln!("nothing is kept beyond this process; `--store FILE` keeps it");
            return Ok(Arc::new(EmbeddedStore::in_memory()?));
        };
        Ok(Arc::new(EmbeddedStore::open(path)?))
    }
}

/// Reopens the task of the executor if the store knows it and its token is still where it was written, so that an executor that is
/// at work comes back by itself; opens one otherwise.
async fn open_task(
    backend: &BackendHandle,
    store: &dyn Store,
    token_file: &Path,
) -> Result<Task, Failure> {
    let service: TaskId = SERVICE.parse()?;
    let before = store.read(service, TASK).await?;
    let before = before.and_then(|before| before.value.parse().ok());
    let reopened = match before {
        Some(id) if token_file.exists() => backend.reopen(id).await?,
        _ => None,
    };
    let task = if let Some(task) = reopened {
        task
    } else {
        let (task, token) = backend.task().await?;
        write_token(token_file, token.reveal())
            .map_err(|error| format!("`{}`: {error}", token_file.display()))?;
        task
    };
    // A reopened one is written again, so that its time to live begins anew.
    let id = task.id().to_string();
    let _ = store.write(service, TASK, &id, Expect::Any).await?;
    Ok(task)
}

/// The half that acts.
#[derive(Debug, clap::Args)]
pub struct Executor {
    /// The address that the backend printed, as in `ws://127.0.0.1:7000/executor/…`.
    #[arg(long, value_name = "ADDRESS")]
    connect: String,
    /// The file that holds the token, as the backend wrote it.
    #[arg(long, value_name = "FILE")]
    token_file: PathBuf,
    /// The file that records which calls ran; without it, a restart leaves calls in doubt.
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// The folder that the tools may touch.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    root: PathBuf,
}

impl Executor {
    /// Works until the task is over, the backend is gone for good, Ctrl-C or SIGTERM.
    ///
    /// # Errors
    ///
    /// The cause that kept it from working.
    pub async fn run(self) -> Result<ExitCode, Failure> {
        let token = read_token(&self.token_file)?;
        let mut executor = contract_remote::Executor::new(tools::registry(&self.root)?)
            .custom()
            .on_event(|event| print_event(&event));
        if let Some(path) = &self.journal {
            executor = executor.journal(Journal::open(path)?);
        }
        let connected = executor.connect(self.connect, token);
        let leave = async {
            interrupted().await;
            eprintln!("takes no more calls, and ends when the running ones have ended, or in 10 s");
        };
        connected.ended_or_shutdown(leave, DRAIN).await?;
        Ok(ExitCode::SUCCESS)
    }
}

fn print_event(event: &ExecutorEvent) {
    match event {
        ExecutorEvent::Attached {
            toolbelt, refused, ..
        } => {
            eprintln!("attached, with {} tools", toolbelt.len());
            for one in refused {
                eprintln!("left out {}: {}", one.name, one.reason);
            }
        }
        ExecutorEvent::Lost { reason } => eprintln!("the connection broke: {reason}"),
        ExecutorEvent::Reconnecting { attempt, of, after } => {
            let seconds = after.as_secs_f32();
            let of = of.map_or_else(String::new, |of| format!(" of {of}"));
            eprintln!("dials again in {seconds:.1} s, attempt {attempt}{of}");
        }
        ExecutorEvent::JournalFailed { error } => {
            eprintln!("no call is run until the journal can be written: {error}");
        }
        ExecutorEvent::JournalReopened => eprintln!("the journal can be written again"),
        ExecutorEvent::MessageDelta(delta) => eprint!("{}", delta.text),
        ExecutorEvent::Finished(finished) => eprintln!("\nover: {}", finished.message),
        _ => {}
    }
}

/// Reads a token, which must stand in an address as it is (RFC 3986, 2.3, "Unreserved Characters", 2005).
fn read_token(path: &Path) -> Result<Token, Failure> {
    let text = fs::read_to_string(path);
    let text = text.map_err(|error| format!("the token in `{}`: {error}", path.display()))?;
    let text = text.trim();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    if text.len() < 16 || !text.bytes().all(is_plain) {
        let path = path.display();
        return Err(format!(
            "the token in `{path}` is not 16 or more letters, digits, `-`, `.`, `_` or `~`"
        )
        .into());
    }
    Ok(Token::from(text))
}

/// Writes a token into a new file, which only this user can read.
fn write_token(path: &Path, token: &str) -> std::io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    writeln!(options.open(path)?, "{token}")
}

/// Waits for Ctrl-C or SIGTERM.
pub(crate) async fn interrupted() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    // Without a handler, the system ends the process by itself.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
