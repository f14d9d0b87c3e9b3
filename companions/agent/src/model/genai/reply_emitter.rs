//! Emits the pieces of a reply, and tracks what has been emitted.

use contract_runtime::ToolCall;
use genai::chat::StopReason;
use tracing::Span;

use super::fault::Faults;
use super::frames::Refusal;
use crate::generator::Emitter;
use crate::model::{Delta, ModelError, Usage};

/// Gives out the pieces of a reply, and remembers whether there were any.
pub(super) struct ReplyEmitter {
    emitter: Emitter<Result<Delta, ModelError>>,
    span: Span,
    begun: bool,
    /// The beginning of the text.
    text: String,
}

/// How much of the text is remembered, in bytes: more than is shown where it is withheld.
const REMEMBERED: usize = 8_000;

impl ReplyEmitter {
    pub(super) const fn new(emitter: Emitter<Result<Delta, ModelError>>, span: Span) -> Self {
        Self {
            emitter,
            span,
            begun: false,
            text: String::new(),
        }
    }

    pub(super) const fn begun(&self) -> bool {
        self.begun
    }

    pub(super) async fn text(&mut self, text: String) {
        if !text.is_empty() {
            if self.text.len() < REMEMBERED {
                self.text.push_str(&text);
            }
            self.give(Delta::Text(text)).await;
        }
    }

    /// The end of a whole reply: its calls, what it cost, and why it ended.
    pub(super) async fn ending(
        &mut self,
        calls: Vec<ToolCall>,
        usage: Option<Usage>,
        reason: Option<StopReason>,
        refusal: Refusal,
        faults: Faults<'_>,
    ) -> Result<(), ModelError> {
        if let Some(usage) = usage {
            self.span
                .record("gen_ai.usage.input_tokens", usage.input_tokens);
            self.span
                .record("gen_ai.usage.output_tokens", usage.output_tokens);
            self.give(Delta::Usage(usage)).await;
        }
        let withheld = match reason {
            Some(StopReason::MaxTokens(_)) => return Err(ModelError::TooLong),
            Some(StopReason::ContentFilter(reason)) => Some(reason),
            // `MALFORMED_FUNCTION_CALL` and the like: nothing was said, which would pass for an empty answer.
            Some(StopReason::Other(reason)) if !self.begun && calls.is_empty() => Some(reason),
            _ => refusal.reason,
        };
        if let Some(reason) = withheld {
            let said = if refusal.said.is_empty() {
                &self.text
            } else {
                &refusal.said
            };
            return Err(faults.withheld(&reason, said));
        }
        for call in calls {
            self.give(Delta::Call(call)).await;
        }
        Ok(())
    }

    pub(super) async fn end(self, outcome: Result<(), ModelError>) {
        if let Err(error) = outcome {
            self.span.record("error.type", kind(&error));
            self.emitter.emit(Err(error)).await;
        }
    }

    async fn give(&mut self, piece: Delta) {
        self.begun |= !matches!(piece, Delta::Usage(_));
        self.emitter.emit(Ok(piece)).await;
    }
}

/// A word for an error, in spans.
const fn kind(error: &ModelError) -> &'static str {
    match error {
        ModelError::Status { .. } => "status",
        ModelError::Unreachable { .. } => "unreachable",
        ModelError::Timeout { .. } => "timeout",
        ModelError::Cut => "cut",
        ModelError::Unreadable { .. } => "unreadable",
        ModelError::TooLong => "too_long",
        ModelError::Withheld { .. } => "withheld",
        ModelError::Tools(_) => "tools",
        ModelError::NoRuntime => "no_runtime",
        _ => "provider",
    }
}

/// What genai counted.
pub(super) fn usage(counted: &genai::chat::Usage) -> Usage {
    let tokens = |count: Option<i32>| u64::try_from(count.unwrap_or_default()).unwrap_or_default();
    Usage::new(
        tokens(counted.prompt_tokens),
        tokens(counted.completion_tokens),
    )
}
