//! The backend as a process of its own.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use contract_manifest::ToManifest as _;
use contract_remote::store::{EmbeddedStore, Store, StoreError};
use contract_remote::{Backend as Half, BackendHandle, RemoteError};
use contract_runtime::Registry;

use super::{DRAIN, Failure, interrupted, secret, task_file};
use crate::demo::RECORDINGS;
use crate::model::Models;
use crate::runs::{Engine, RunStore};
use crate::service::{Service, ServiceToken};

/// How long a backend waits for its name: a little longer than one that was killed keeps it.
const TAKEN: Duration = Duration::from_secs(45);

/// The half that decides.
#[derive(Debug, clap::Args)]
pub struct Backend {
    /// The address to serve chats and the page at; port 0 chooses a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    listen: String,
    /// Another host name of the service, such as that of a proxy; may be repeated.
    #[arg(long, value_name = "HOST")]
    host: Vec<String>,
    /// The variable that holds the token of the service; by default one is generated and printed.
    #[arg(long, value_name = "VARIABLE", conflicts_with = "service_token_file")]
    service_token_env: Option<String>,
    /// The file that holds the token of the service.
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
    /// The Redis that stores them instead, as in `rediss://host`, for several backends.
    #[arg(long, value_name = "ADDRESS")]
    redis: Option<String>,
    /// The user to log in to that Redis as.
    #[arg(long, value_name = "NAME", requires = "redis")]
    redis_user: Option<String>,
    /// The variable that holds this password; in an address everyone on the machine could see it.
    #[arg(long, value_name = "VARIABLE", requires = "redis")]
    redis_password_env: Option<String>,
    /// The address at which executors reach any of several backends, as in `wss://tools.example`.
    #[arg(long, value_name = "ADDRESS")]
    public_url: Option<String>,
    /// The address at which the other backends of that Redis reach this one, as in `wss://backend-1.internal:7000`; needed
    /// where `--executors` names every address of the machine.
    #[arg(long, value_name = "ADDRESS", requires = "redis")]
    peer_url: Option<String>,
    /// The name of this backend among others with the same store: letters, digits, `-`, `_` and `.`.
    #[arg(long, value_name = "NAME", default_value = "codegen")]
    name: String,
    /// A tool about whose calls a person is asked, on the page or over the service, before they travel; may be repeated.
    #[arg(long, value_name = "TOOL")]
    confirm: Vec<String>,
    /// The folder of recorded conversations, used when the environment names no provider.
    #[arg(long, value_name = "FOLDER", default_value = RECORDINGS)]
    recordings: PathBuf,
}

impl Backend {
    /// Serves until somebody ends it; then the run at work has 10 s to come to its end.
    ///
    /// # Errors
    ///
    /// What kept it from serving.
    pub async fn run(self) -> Result<ExitCode, Failure> {
        let chosen = secret::read(
            self.service_token_env.as_deref(),
            self.service_token_file.as_deref(),
        )?;
        let token = match chosen {
            Some(text) => ServiceToken::chosen(&text)?,
            None => ServiceToken::random()?,
        };
        let (half, run_store, store) = self.stored()?;
        // Before anything is written: the token in the file may be that of a backend which has these addresses.
        let served = Service::bind(&self.listen).await?;
        let listening = self.bind(half).await?;
        let task = task_file::open(&listening, &*store, &self.name, &self.token_file).await?;
        let executor = task.address().to_owned();
        let models = Models::choose(&self.recordings)?;
        let engine = Arc::new(Engine::open(run_store, models, task).await?);
        let service = Service::new(Arc::clone(&engine), served, &self.host, token.clone())?;
        let address = service.address();
        let token = token.in_query();
        let file = self.token_file.display();
        let told = format!(
            "page      http://{address}/?token={token}\nexecutor  {executor}\ntoken     {file}\n"
        );
        // The parent process may close the pipe after the first line; the backend serves all the same.
        let _ = std::io::stdout().write_all(told.as_bytes());
        let closing = service.closing();
        tokio::select! {
            () = service.serve() => {}
            () = async {
                interrupted().await;
                eprintln!("ends when the run at work has ended, or in 10 s");
                engine.shut_down(DRAIN).await;
                // No call is open any more; executors are told to dial again.
                listening.shutdown(Duration::ZERO).await;
                closing.cancel();
                // What streams have still to say.
                tokio::time::sleep(Duration::from_millis(200)).await;
            } => {}
        }
        Ok(ExitCode::SUCCESS)
    }

    /// What it is as the half of a connection, and what keeps its runs.
    fn stored(&self) -> Result<(Half, RunStore, Arc<dyn Store>), Failure> {
        let half = Half::new(Registry::builder().build()?.manifest());
        let half = self.confirm.iter().fold(half, Half::confirm);
        let half = match &self.public_url {
            Some(base) => half.public_url(base),
            None => half,
        };
        if let Some(address) = &self.redis {
            return self.redis(half, address);
        }
        let store = if let Some(path) = &self.store {
            EmbeddedStore::open(path)?
        } else {
            eprintln!("nothing is kept beyond this process; `--store FILE` keeps it");
            EmbeddedStore::in_memory()?
        };
        let store: Arc<dyn Store> = Arc::new(store);
        let run_store = RunStore::new(Arc::clone(&store), &self.name);
        Ok((half.store(Arc::clone(&store)), run_store, store))
    }

    #[cfg(feature = "redis")]
    fn redis(
        &self,
        half: Half,
        address: &str,
    ) -> Result<(Half, RunStore, Arc<dyn Store>), Failure> {
        use contract_remote::store::{RedisOptions, RedisStore};
        let mut options = RedisOptions::new(address);
        options.user.clone_from(&self.redis_user);
        options.password = secret::read(self.redis_password_env.as_deref(), None)?;
        let store = RedisStore::new(options)?;
        let half = half.shared(&store, self.name.as_str());
        let half = match &self.peer_url {
            Some(url) => half.peer_url(url),
            None => half,
        };
        let store: Arc<dyn Store> = Arc::new(store);
        let run_store = RunStore::new(Arc::clone(&store), &self.name).shared();
        Ok((half, run_store, store))
    }

    #[cfg(not(feature = "redis"))]
    #[allow(clippy::unused_self, reason = "the other one reads it")]
    fn redis(&self, _: Half, _: &str) -> Result<(Half, RunStore, Arc<dyn Store>), Failure> {
        Err("this program was built without Redis; build it with `--features redis`".into())
    }

    /// Listens for executors. The name of a backend that was killed is free again a little later.
    async fn bind(&self, half: Half) -> Result<BackendHandle, Failure> {
        let began = Instant::now();
        let mut is_told = false;
        loop {
            match half.clone().bind(&self.executors).await {
                Err(RemoteError::Store(StoreError::Conflict { .. })) if began.elapsed() < TAKEN => {
                    if !std::mem::replace(&mut is_told, true) {
                        eprintln!(
                            "a backend named `{}` was running until recently; waits up to {} s for the name to be free",
                            self.name,
                            TAKEN.as_secs()
                        );
                    }
                }
                Err(RemoteError::Store(StoreError::Conflict { .. })) => {
                    let name = &self.name;
                    return Err(format!("a backend named `{name}` is running; give this one another name with `--name`").into());
                }
                bound => return Ok(bound?),
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }
}
