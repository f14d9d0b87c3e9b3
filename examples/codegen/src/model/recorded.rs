//! Replays the recording that matches the conversation.

use std::future::poll_fn;
use std::path::PathBuf;
use std::sync::Arc;

use contract_agent::{Delta, Message, Model, ModelError, Replay, Reply, Request, stream_with};
use parking_lot::Mutex;

/// Plays the one of several recordings that begins as the conversation does.
///
/// Every turn of a conversation is a recording of its own, which begins with all that was said before; so a run that goes
/// on after a restart finds its place.
#[derive(Debug)]
pub struct Recorded {
    files: Arc<[PathBuf]>,
    playing: Mutex<Option<Arc<Replay>>>,
}

impl Recorded {
    /// Chooses among these files.
    #[must_use]
    pub fn new(files: Arc<[PathBuf]>) -> Self {
        Self {
            files,
            playing: Mutex::default(),
        }
    }

    fn playing(&self) -> Option<Arc<Replay>> {
        let playing = self.playing.lock();
        playing.clone()
    }

    fn play(&self, replay: Arc<Replay>) {
        let mut playing = self.playing.lock();
        *playing = Some(replay);
    }

    /// The first piece of the recording that fits, which is played from now on.
    async fn begin(&self, request: &Request<'_>) -> Result<Vec<Delta>, ModelError> {
        for file in &*self.files {
            let replay = Replay::open(file).map_err(|error| ModelError::Provider {
                message: error.to_string(),
            })?;
            match collect(&replay, request.clone()).await {
                Ok(pieces) => {
                    self.play(Arc::new(replay));
                    return Ok(pieces);
                }
                Err(ModelError::Diverged { .. } | ModelError::RecordingEnded { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Err(ModelError::Provider {
            message: format!(
                "no recorded conversation goes on with `{}`; set OPENAI_API_KEY and OPENAI_MODEL (or those of another provider) to ask a model, or say one of: {}",
                last(request.messages),
                self.beginnings()
            ),
        })
    }

    /// What the recordings begin with, after the words of their files.
    fn beginnings(&self) -> String {
        let names = self
            .files
            .iter()
            .filter_map(|file| file.file_stem()?.to_str());
        let first = names.filter(|name| !name.contains('.'));
        let quoted: Vec<String> = first
            .map(|name| format!("`{}`", name.replace('-', " ")))
            .collect();
        quoted.join(", ")
    }
}

fn last(messages: &[Message]) -> &str {
    match messages.last() {
        Some(Message::User { text }) => text,
        _ => "",
    }
}

async fn collect(model: &dyn Model, request: Request<'_>) -> Result<Vec<Delta>, ModelError> {
    let mut reply = model.reply(request);
    let mut pieces = Vec::new();
    while let Some(piece) = poll_fn(|task| reply.as_mut().poll_next(task)).await {
        pieces.push(piece?);
    }
    Ok(pieces)
}

impl Model for Recorded {
    fn name(&self) -> &'static str {
        "recorded"
    }

    fn reply<'a>(&'a self, request: Request<'a>) -> Reply<'a> {
        Box::pin(stream_with(move |emitter| async move {
            let pieces = match self.playing() {
                Some(replay) => collect(&*replay, request).await,
                None => self.begin(&request).await,
            };
            match pieces {
                Ok(pieces) => {
                    for piece in pieces {
                        emitter.emit(Ok(piece)).await;
                    }
                }
                Err(error) => emitter.emit(Err(error)).await,
            }
        }))
    }
}
