use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use contract_runtime::Registry;
use contract_runtime::remote::store::{EmbeddedStore, Store};

use super::{Failure, interrupted, secret, workplace};
use crate::demo::RECORDINGS;
use crate::model::Models;
use crate::runs::{Engine, Keep};
use crate::service::{Service, ServiceToken};

/// How long the run at work may go on when the process is to end.
const DRAIN: Duration = Duration::from_secs(10);

/// The half that decides.
#[derive(Debug, clap::Args)]
pub struct Backend {
    /// Where chats and the page are served; port 0 is a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    listen: String,
    /// A further name by which the service is reached, such as that of a proxy; may be given again.
    #[arg(long, value_name = "HOST")]
    host: Vec<String>,
    /// The variable that holds the token of the service; without, one is made and printed.
    #[arg(long, value_name = "VARIABLE", conflicts_with = "service_token_file")]
    service_token_env: Option<String>,
    /// The file that holds the token of the service.
    #[arg(long, value_name = "FILE")]
    service_token_file: Option<PathBuf>,
    /// Where executors dial in; port 0 is a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    executors: String,
    /// The file into which the token of the executor is written.
    #[arg(long, value_name = "FILE", default_value = "executor.token")]
    token_file: PathBuf,
    /// The file in which runs and calls are kept; without, they are gone with the process.
    #[arg(long, value_name = "FILE", conflicts_with = "redis")]
    store: Option<PathBuf>,
    /// The Redis in which they are kept instead, as in `rediss://host`, for several backends.
    #[arg(long, value_name = "ADDRESS")]
    redis: Option<String>,
    /// What tells this backend from others with the same store: letters, digits, `-`, `_` and `.`.
    #[arg(long, value_name = "NAME", default_value = "codegen")]
    name: String,
    /// The folder of recorded conversations, for where the environment names no provider.
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
        let token = match &chosen {
            Some(text) => ServiceToken::chosen(text)?,
            None => ServiceToken::random()?,
        };
        let store = self.store()?;
        let listening =
            contract_runtime::remote::Backend::new(Registry::builder().build()?.manifest())
                .store(Arc::clone(&store))
                .bind(&self.executors)
                .await?;
        let task = workplace::open(&listening, &*store, &self.name, &self.token_file).await?;
        let executor = task.address().to_owned();
        let models = Models::choose(&self.recordings)?;
        let engine = Arc::new(Engine::open(Keep::new(store, &self.name), models, task).await?);
        let service = Service::bind(Arc::clone(&engine), &self.listen, &self.host, token.clone());
        let service = service.await?;
        let address = service.address();
        // A token that was chosen is known to whoever chose it, and is not repeated.
        let shown = match chosen {
            Some(_) => String::new(),
            None => format!("?token={}", token.reveal()),
        };
        println!("page      http://{address}/{shown}");
        println!("executor  {executor}");
        println!("token     {}", self.token_file.display());
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

    fn store(&self) -> Result<Arc<dyn Store>, Failure> {
        if let Some(address) = &self.redis {
            return redis(address);
        }
        if let Some(path) = &self.store {
            return Ok(Arc::new(EmbeddedStore::open(path)?));
        }
        eprintln!("nothing is kept beyond this process; `--store FILE` keeps it");
        Ok(Arc::new(EmbeddedStore::in_memory()?))
    }
}

#[cfg(feature = "redis")]
fn redis(address: &str) -> Result<Arc<dyn Store>, Failure> {
    use contract_runtime::remote::store::{RedisOptions, RedisStore};
    Ok(Arc::new(RedisStore::new(RedisOptions::new(address))?))
}

#[cfg(not(feature = "redis"))]
fn redis(_: &str) -> Result<Arc<dyn Store>, Failure> {
    Err("this program was built without Redis; build it with `--features redis`".into())
}
