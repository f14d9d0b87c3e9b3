//! The model: a real one if the environment names one, otherwise recorded conversations.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use contract_agent::{
    Delta, GenaiBuildError, GenaiModel, Message, Model, ModelError, Replay, Reply, Request,
};
use futures_util::{FutureExt as _, StreamExt as _, TryStreamExt as _, stream};
use parking_lot::Mutex;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The source of the model of each turn.
#[derive(Clone)]
pub enum Models {
    /// A provider.
    Provider(Arc<dyn Model>),
    /// The files of recorded conversations.
    Recorded(Arc<[PathBuf]>),
}

impl Models {
    /// Takes the provider that the environment names, or else the recordings in this folder.
    ///
    /// # Errors
    ///
    /// Variables that do not fit together, or a folder that cannot be read.
    pub fn choose(recordings: &Path) -> Result<Self, Failure> {
        match GenaiModel::from_environment() {
            Ok(builder) => Ok(Self::Provider(Arc::new(builder.build()?))),
            Err(GenaiBuildError::NoProvider) => Self::recorded(recordings),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes the recordings in a folder.
    ///
    /// # Errors
    ///
    /// The folder cannot be read.
    pub fn recorded(folder: &Path) -> Result<Self, Failure> {
        let failed = |error| format!("the recordings in `{}`: {error}", folder.display());
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.extension().is_some_and(|end| end == "jsonl") {
                files.push(path);
            }
        }
        files.sort();
        Ok(Self::Recorded(files.into()))
    }

    /// Returns the model for one turn of one run.
    #[must_use]
    pub fn model(&self) -> Arc<dyn Model> {
        match self {
            Self::Provider(model) => Arc::clone(model),
            Self::Recorded(files) => Arc::new(Recorded {
                files: Arc::clone(files),
                playing: Mutex::default(),
            }),
        }
    }
}

/// Replays the one of several recordings that begins as the conversation does.
///
/// Every turn of a conversation is a recording of its own, which begins with all that was said before; so a run that goes
/// on after a restart finds its place.
struct Recorded {
    files: Arc<[PathBuf]>,
    playing: Mutex<Option<Arc<Replay>>>,
}

impl Recorded {
    async fn pieces(&self, request: Request<'_>) -> Result<Vec<Delta>, ModelError> {
        let playing = self.playing.lock().clone();
        if let Some(replay) = playing {
            return replay.reply(request).try_collect().await;
        }
        for file in &*self.files {
            let replay = Replay::open(file).map_err(|error| ModelError::Provider {
                message: error.to_string(),
            })?;
            match replay.reply(request.clone()).try_collect().await {
                Ok(pieces) => {
                    *self.playing.lock() = Some(Arc::new(replay));
                    return Ok(pieces);
                }
                Err(ModelError::Diverged { .. } | ModelError::RecordingEnded { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let last = match request.messages.last() {
            Some(Message::User { text }) => text,
            _ => "",
        };
        let stems = self
            .files
            .iter()
            .filter_map(|file| file.file_stem()?.to_str());
        // A later turn of a conversation has a number behind a dot.
        let tasks = stems.filter(|name| !name.contains('.'));
        let tasks: Vec<String> = tasks
            .map(|name| format!("`{}`", name.replace('-', " ")))
            .collect();
        Err(ModelError::Provider {
            message: format!(
                "no recorded conversation goes on with `{last}`; set OPENAI_API_KEY and OPENAI_MODEL (or those of another provider) to ask a model, or say one of: {}",
                tasks.join(", ")
            ),
        })
    }
}

impl Model for Recorded {
    fn name(&self) -> &'static str {
        "recorded"
    }

    fn reply<'a>(&'a self, request: Request<'a>) -> Reply<'a> {
        let pieces = self
            .pieces(request)
            .into_stream()
            .map(|pieces| match pieces {
                Ok(pieces) => stream::iter(pieces.into_iter().map(Ok).collect::<Vec<_>>()),
                Err(error) => stream::iter(vec![Err(error)]),
            });
        Box::pin(pieces.flatten())
    }
}
