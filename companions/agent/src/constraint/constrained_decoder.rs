//! Models that choose each token among those a grammar allows.

use std::future::Future;
use std::pin::Pin;

use super::token_mask::{TokenMask, TokenSet, Vocabulary};
use super::{Constraint, ConstraintError};
use crate::generator::{Emitter, stream_with};
use crate::message::Message;
use crate::model::{Delta, Model, ModelError, Reply, Request, Usage};
use parking_lot::Mutex;

/// A model that chooses one token at a time, such as one that runs in the same process.
pub trait TokenModel: Send + Sync {
    /// Returns the name of the model, for people.
    fn name(&self) -> &str;

    /// Returns its vocabulary.
    fn vocabulary(&self) -> &Vocabulary;

    /// Chooses the next token, which must be an allowed one.
    fn next<'a>(&'a self, step: DecodingStep<'a>) -> NextToken<'a>;
}

/// The future of the next token.
pub type NextToken<'a> = Pin<Box<dyn Future<Output = Result<u32, ModelError>> + Send + 'a>>;

/// The input of a model when it chooses a token.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct DecodingStep<'a> {
    /// The conversation so far.
    pub messages: &'a [Message],
    /// The tokens of this reply so far.
    pub written: &'a [u32],
    /// The tokens that may come next.
    pub allowed: &'a TokenSet,
}

/// Constrains a model token by token to the constraint of a request.
///
/// What it writes keeps the grammar by construction, so an agent over it needs no enforcement of its own.
#[derive(Debug)]
pub struct ConstrainedDecoder<M> {
    model: M,
    max_tokens: u32,
    /// The last constraint with its mask, because a run asks for the same one again and again.
    last: Mutex<Option<(Constraint, TokenMask)>>,
}

impl<M: TokenModel> ConstrainedDecoder<M> {
    /// Wraps a model; a reply has at most 4,096 tokens, unless the request asks for fewer.
    pub const fn new(model: M) -> Self {
        Self {
            model,
            max_tokens: 4_096,
            last: Mutex::new(None),
        }
    }

    /// Sets the maximum number of tokens of a reply.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = tokens;
        self
    }

    fn mask(&self, constraint: &Constraint) -> Result<TokenMask, ConstraintError> {
        let mut last = self.last.lock();
        if let Some((known, mask)) = &*last
            && known.is(constraint)
        {
            return Ok(mask.fork());
        }
        let mask = TokenMask::new(constraint, self.model.vocabulary())?;
        *last = Some((constraint.clone(), mask.fork()));
        Ok(mask)
    }

    async fn write(
        &self,
        request: &Request<'_>,
        emitter: &Emitter<Result<Delta, ModelError>>,
    ) -> Result<(), ModelError> {
        let engine = |error: ConstraintError| ModelError::Provider {
            message: error.to_string(),
            retry_after: None,
        };
        let vocabulary = self.model.vocabulary();
        let mut mask = match request.constraint {
            Some(constraint) => Some(self.mask(constraint).map_err(engine)?),
            None => None,
        };
        let most = request
            .max_tokens
            .map_or(self.max_tokens, |most| most.min(self.max_tokens));
        let (mut written, mut bytes) = (Vec::new(), Vec::new());
        for _ in 0..most {
            let allowed = match &mut mask {
                Some(mask) if mask.is_over() => break,
                Some(mask) => mask.allowed().map_err(engine)?,
                None => TokenSet::all(vocabulary),
            };
            let step = DecodingStep {
                messages: request.messages,
                written: &written,
                allowed: &allowed,
            };
            let token = self.model.next(step).await?;
            if token == vocabulary.end() && allowed.contains(token) {
                break;
            }
            if let Some(mask) = &mut mask {
                mask.accept(token).map_err(engine)?;
            }
            written.push(token);
            bytes.extend(vocabulary.text(token));
            if let Some(text) = take_complete(&mut bytes) {
                emitter.emit(Ok(Delta::Text(text))).await;
            }
        }
        let usage = Usage::new(0, written.len() as u64);
        emitter.emit(Ok(Delta::Usage(usage))).await;
        Ok(())
    }
}

/// The characters that are complete; the beginning of one that is not stays.
fn take_complete(bytes: &mut Vec<u8>) -> Option<String> {
    let end = match std::str::from_utf8(bytes) {
        Ok(text) => text.len(),
        // Bytes that no character begins with are shown as such.
        Err(error) if error.error_len().is_some() => bytes.len(),
        Err(error) => error.valid_up_to(),
    };
    let rest = bytes.split_off(end);
    let text = String::from_utf8_lossy(&std::mem::replace(bytes, rest)).into_owned();
    (!text.is_empty()).then_some(text)
}

impl<M: TokenModel> Model for ConstrainedDecoder<M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn reply<'a>(&'a self, request: Request<'a>) -> Reply<'a> {
        Box::pin(stream_with(move |emitter| async move {
            if let Err(error) = self.write(&request, &emitter).await {
                emitter.emit(Err(error)).await;
            }
        }))
    }
}
