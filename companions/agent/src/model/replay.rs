//! Records conversations and replays them.

use std::fs::File;
use std::future::{Future, Ready, poll_fn, ready};
use std::io::{BufRead as _, BufReader, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use contract_runtime::approval::{ApprovalRequest, Decided, Decision, Question};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Delta, Model, ModelError, Reply, Request};
use crate::generator::stream_with;
use crate::message::Message;

/// The first line of a recording.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    format: u32,
    model: String,
}

const FORMAT: u32 = 1;

/// One request with its reply, on one line.
#[derive(Debug, Serialize, Deserialize)]
struct Exchange {
    /// The messages that the request before it did not have.
    said: Vec<Message>,
    reply: Vec<Delta>,
}

/// What a person was asked and answered, on one line.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Approval {
    tool: String,
    arguments: Value,
    asked: Vec<Question>,
    #[serde(flatten)]
    decided: Decided,
}

impl Approval {
    fn new(request: ApprovalRequest, decided: Decided) -> Self {
        Self {
            tool: request.tool,
            arguments: request.arguments,
            asked: request.questions,
            decided,
        }
    }

    /// Whether this answers the same question, which has another id each time.
    fn answers(&self, request: &ApprovalRequest) -> bool {
        self.tool == request.tool
            && self.arguments == request.arguments
            && self.asked == request.questions
    }
}

type Deciding = Pin<Box<dyn Future<Output = Decided> + Send>>;

/// Why a recording cannot be written or replayed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The file cannot be read or written.
    #[error("the recording `{}` cannot be used: {source}", path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A line is not valid in a recording.
    #[error("line {line} of the recording `{}` cannot be read: {source}; record it again", path.display())]
    Line {
        /// The path of the file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A file already exists at the path of a new recording.
    #[error("the file `{}` already exists; remove it, or record to another one", path.display())]
    Exists {
        /// The path of the file.
        path: PathBuf,
    },
    /// The file was written by another version.
    #[error("the recording `{}` has format {found}, but only {FORMAT} is supported; record it again", path.display())]
    Format {
        /// The path of the file.
        path: PathBuf,
        /// Its format.
        found: u32,
    },
}

/// Records the requests to a model and its replies, for [`Replay`] to play without a network.
///
/// The file has one JSON value on each line: first the format and the name of the model, then each request with its reply.
/// A reply that was cut off or failed is not recorded. What persons decide is recorded where they are asked by
/// [`approver`](Self::approver).
#[derive(Debug)]
pub struct Recorder<M> {
    model: M,
    state: Arc<Mutex<Recording>>,
}

#[derive(Debug)]
struct Recording {
    path: PathBuf,
    file: File,
    said: usize,
}

impl<M: Model> Recorder<M> {
    /// Records the replies of a model to a new file; an existing recording is never overwritten.
    ///
    /// # Errors
    ///
    /// [`RecordingError::Exists`] where there is a file already, and [`RecordingError::File`] where none can be made.
    pub fn new(model: M, path: impl Into<PathBuf>) -> Result<Self, RecordingError> {
        let path = path.into();
        let header = Header {
            format: FORMAT,
            model: model.name().to_owned(),
        };
        let begun = File::create_new(&path).and_then(|mut file| {
            writeln!(file, "{}", serde_json::to_string(&header)?)?;
            Ok(file)
        });
        let file = begun.map_err(|source| {
            let path = path.clone();
            match source.kind() {
                ErrorKind::AlreadyExists => RecordingError::Exists { path },
                _ => RecordingError::File { path, source },
            }
        })?;
        Ok(Self {
            model,
            state: Arc::new(Mutex::new(Recording {
                path,
                file,
                said: 0,
            })),
        })
    }

    fn record(&self, messages: &[Message], reply: Vec<Delta>) -> Result<(), ModelError> {
        let mut state = self.state.lock();
        let exchange = Exchange {
            said: new_among(messages, state.said),
            reply,
        };
        state.said = messages.len();
        state
            .write(&exchange)
            .map_err(|message| ModelError::Recording { message })
    }

    /// Records what an approver decides, for [`Replay::approver`]. A decision that cannot be written is a denial.
    pub fn approver<A, F>(
        &self,
        approver: A,
    ) -> impl Fn(ApprovalRequest) -> Deciding + Send + Sync + 'static + use<M, A, F>
    where
        A: Fn(ApprovalRequest) -> F + Send + Sync + 'static,
        F: Future<Output: Into<Decided>> + Send + 'static,
    {
        let state = Arc::clone(&self.state);
        move |request: ApprovalRequest| {
            let state = Arc::clone(&state);
            let deciding = approver(request.clone());
            Box::pin(async move {
                let decided: Decided = deciding.await.into();
                let line = Approval::new(request, decided.clone());
                let written = state.lock().write(&line);
                written.map_or_else(
                    |error| {
                        let why = format!("the answer could not be recorded in {error}");
                        Decision::Denied(why).into()
                    },
                    |()| decided,
                )
            })
        }
    }
}

impl Recording {
    fn write(&mut self, line: &impl Serialize) -> Result<(), String> {
        serde_json::to_string(line)
            .map_err(std::io::Error::from)
            .and_then(|line| writeln!(self.file, "{line}"))
            .map_err(|source| format!("`{}`: {source}", self.path.display()))
    }
}

impl<M: Model> Model for Recorder<M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn reply<'a>(&'a self, request: Request<'a>) -> Reply<'a> {
        let messages = request.messages;
        Box::pin(stream_with(move |emitter| async move {
            let mut pieces = self.model.reply(request);
            let mut reply = Vec::new();
            while let Some(piece) = poll_fn(|task| pieces.as_mut().poll_next(task)).await {
                match piece {
                    Ok(piece) => {
                        reply.push(piece.clone());
                        emitter.emit(Ok(piece)).await;
                    }
                    Err(error) => return emitter.emit(Err(error)).await,
                }
            }
            if let Err(error) = self.record(messages, reply) {
                emitter.emit(Err(error)).await;
            }
        }))
    }
}

/// Replays a recording: the same pieces in the same order, without a network.
///
/// What the program says must be what it said then; otherwise the reply is an error that names the difference. What tools
/// gave may differ, because the world does, unless [`strict`](Self::strict) demands it too. One value plays one run. A run that another
/// process began is played from where it stands.
///
/// ```
/// use contract_agent::{ContractAgent, Recorder, Replay, Scripted, ToolCallingAgent};
/// use contract_runtime::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let file = std::env::temp_dir().join(format!("greeting-{}.jsonl", std::process::id()));
/// let registry = Registry::builder().build()?;
/// // In earnest, a real model stands in the place of the script.
/// let recorder = Recorder::new(Scripted::new().text("Hello!"), &file)?;
/// ContractAgent::builder(ToolCallingAgent::new(recorder, registry.clone())).build().run("Greet me.").await;
///
/// let agent = ContractAgent::builder(ToolCallingAgent::new(Replay::open(&file)?, registry)).build();
/// assert_eq!(agent.run("Greet me.").await.answer.as_deref(), Some("Hello!"));
/// # std::fs::remove_file(file)?;
/// # Ok(()) }
/// ```
#[derive(Debug)]
#[must_use]
pub struct Replay {
    model: String,
    exchanges: Vec<Exchange>,
    approvals: Arc<Mutex<Vec<Approval>>>,
    strict: bool,
    state: Mutex<Played>,
}

#[derive(Debug, Default)]
struct Played {
    exchanges: usize,
    said: usize,
}

impl Replay {
    /// Opens a recording.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or is not a recording of this version.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, RecordingError> {
        let path = path.as_ref();
        let on_file = |source| RecordingError::File {
            path: path.to_owned(),
            source,
        };
        let mut lines = BufReader::new(File::open(path).map_err(on_file)?).lines();
        let first = lines
            .next()
            .transpose()
            .map_err(on_file)?
            .unwrap_or_default();
        let header: Header = on_line(path, 1, &first)?;
        if header.format != FORMAT {
            return Err(RecordingError::Format {
                path: path.to_owned(),
                found: header.format,
            });
        }
        let (mut exchanges, mut approvals) = (Vec::new(), Vec::new());
        for (number, line) in (2..).zip(lines) {
            let line = line.map_err(on_file)?;
            // An editor may have added one at the end.
            if !line.trim().is_empty() {
                match serde_json::from_str(&line) {
                    Ok(approval) => approvals.push(approval),
                    Err(_) => exchanges.push(on_line(path, number, &line)?),
                }
            }
        }
        Ok(Self {
            model: header.model,
            exchanges,
            approvals: Arc::new(Mutex::new(approvals)),
            strict: false,
            state: Mutex::default(),
        })
    }

    /// Requires that tools return what they returned in the recording.
    pub fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// Answers what calls ask as it was answered then. Each answer is used once, for the same tool, arguments and sentences; what
    /// was not asked then is denied.
    pub fn approver(
        &self,
    ) -> impl Fn(ApprovalRequest) -> Ready<Decided> + Send + Sync + 'static + use<> {
        let approvals = Arc::clone(&self.approvals);
        move |request| {
            let mut approvals = approvals.lock();
            let place = approvals.iter().position(|one| one.answers(&request));
            ready(place.map_or_else(
                || Decision::Denied(UNRECORDED.to_owned()).into(),
                |place| approvals.remove(place).decided,
            ))
        }
    }

    fn next(&self, messages: &[Message]) -> Result<&[Delta], ModelError> {
        let mut state = self.state.lock();
        if state.exchanges == 0 {
            (state.exchanges, state.said) = self.place(messages);
        }
        let number = state.exchanges;
        let Some(exchange) = self.exchanges.get(number) else {
            let replies = self.exchanges.len();
            return Err(ModelError::RecordingEnded { replies });
        };
        let said = new_among(messages, state.said);
        if !self.same(&exchange.said, &said) {
            return Err(ModelError::Diverged {
                request: number + 1,
                recorded: excerpt(&exchange.said),
                said: excerpt(&said),
            });
        }
        state.exchanges += 1;
        state.said = messages.len();
        Ok(&exchange.reply)
    }

    /// The exchange with which a conversation goes on, and how much was said before it; the first one if none fits.
    fn place(&self, messages: &[Message]) -> (usize, usize) {
        let mut said = 0;
        for (number, exchange) in self.exchanges.iter().enumerate() {
            let end = said + exchange.said.len();
            let is_same = |part| self.same(&exchange.said, part);
            if !messages.get(said..end).is_some_and(is_same) {
                break;
            }
            if end == messages.len() {
                return (number, said);
            }
            said = end;
        }
        (0, 0)
    }

    fn same(&self, recorded: &[Message], said: &[Message]) -> bool {
        recorded.len() == said.len()
            && recorded.iter().zip(said).all(|pair| match pair {
                (
                    Message::Tool {
                        call_id: one, tool, ..
                    },
                    Message::Tool {
                        call_id: other,
                        tool: same,
                        ..
                    },
                ) if !self.strict => one == other && tool == same,
                // Where calls are written as text, so is what comes of them.
                (Message::User { text: one }, Message::User { text: other }) if !self.strict => {
                    one == other || (is_a_result(one) && is_a_result(other))
                }
                (one, other) => one == other,
            })
    }
}

impl Model for Replay {
    fn name(&self) -> &str {
        &self.model
    }

    fn reply<'a>(&'a self, request: Request<'a>) -> Reply<'a> {
        let reply = self.next(request.messages);
        Box::pin(stream_with(move |emitter| async move {
            match reply {
                Err(error) => emitter.emit(Err(error)).await,
                Ok(pieces) => {
                    for piece in pieces {
                        emitter.emit(Ok(piece.clone())).await;
                    }
                }
            }
        }))
    }
}

const UNRECORDED: &str = "the recording has no answer to this question; record it again";

/// How the messages of results begin: those of `ReActAgent`, and of `ConstrainedAgent`.
const RESULTS: [&str; 2] = ["Observation:", r#"{"tool":"#];

/// Whether a message is what an agent makes of the outcome of a call where calls are written as text.
fn is_a_result(text: &str) -> bool {
    RESULTS.iter().any(|start| text.starts_with(start))
}

/// What a request says that the one before it did not; all of it, when a new conversation has begun.
fn new_among(messages: &[Message], said: usize) -> Vec<Message> {
    messages.get(said..).unwrap_or(messages).to_vec()
}

fn on_line<T: serde::de::DeserializeOwned>(
    path: &Path,
    line: usize,
    text: &str,
) -> Result<T, RecordingError> {
    serde_json::from_str(text).map_err(|source| RecordingError::Line {
        path: path.to_owned(),
        line,
        source,
    })
}

/// The most of a difference that is shown, in characters.
const SHOWN: usize = 500;

fn excerpt(messages: &[Message]) -> String {
    let text = serde_json::to_string(messages).unwrap_or_default();
    text.chars().take(SHOWN).collect()
}
