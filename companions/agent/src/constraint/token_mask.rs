//! Token masks: the tokens of a vocabulary that a grammar allows next.

use std::sync::Arc;

use llguidance::Matcher;
use toktrie::{ApproximateTokEnv, SimpleVob, TokEnv, TokRxInfo, TokTrie};

use super::Constraint;
use super::ConstraintError;

/// The token vocabulary of a model.
#[derive(Clone)]
pub struct Vocabulary(TokEnv);

impl Vocabulary {
    /// Creates a vocabulary from the bytes of each token, by token id, and the token that ends a reply.
    #[must_use]
    pub fn new(tokens: impl IntoIterator<Item = Vec<u8>>, end: u32) -> Self {
        let mut tokens: Vec<Vec<u8>> = tokens.into_iter().collect();
        let place = usize::try_from(end).unwrap_or(usize::MAX);
        if let Some(token) = tokens.get_mut(place) {
            // What ends a reply writes nothing.
            *token = [&[TokTrie::SPECIAL_TOKEN_MARKER][..], b"<|end|>"].concat();
        }
        let size = u32::try_from(tokens.len()).unwrap_or(u32::MAX);
        Self::from_trie(TokTrie::from(&TokRxInfo::new(size, end), &tokens))
    }

    /// Creates a vocabulary with one token for each byte, and 256 for the end.
    #[must_use]
    pub fn bytes() -> Self {
        Self(ApproximateTokEnv::single_byte_env())
    }

    /// Creates a vocabulary from llguidance's representation.
    #[must_use]
    pub fn from_trie(trie: TokTrie) -> Self {
        Self(Arc::new(ApproximateTokEnv::new(trie)))
    }

    /// Returns the token that ends a reply.
    #[must_use]
    pub fn end(&self) -> u32 {
        self.0.tok_trie().eos_token()
    }

    /// Returns the bytes of a token.
    #[must_use]
    pub fn text(&self, token: u32) -> Vec<u8> {
        self.0.tok_trie().decode(&[token])
    }

    /// Returns the number of tokens.
    #[must_use]
    pub fn size(&self) -> usize {
        self.0.tok_trie().vocab_size()
    }
}

impl std::fmt::Debug for Vocabulary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vocabulary")
            .field("size", &self.size())
            .finish_non_exhaustive()
    }
}

/// Computes which tokens may come next while a reply is generated.
///
/// ```
/// use contract_agent::{Constraint, TokenMask, Vocabulary};
/// use serde_json::json;
///
/// let constraint = Constraint::from_schema(json!({"type": "boolean"}))?;
/// let mut mask = TokenMask::new(&constraint, &Vocabulary::bytes())?;
/// let allowed: Vec<u32> = mask.allowed()?.iter().collect();
/// assert_eq!(allowed, [u32::from(b'f'), u32::from(b't')]);
/// mask.accept(u32::from(b't'))?;
/// assert!(!mask.allowed()?.contains(u32::from(b'f')));
/// # Ok::<(), contract_agent::ConstraintError>(())
/// ```
pub struct TokenMask {
    matcher: Matcher,
}

impl TokenMask {
    /// Creates the mask for the start of a reply.
    ///
    /// # Errors
    ///
    /// [`ConstraintError::Engine`] when the grammar is too large for the engine.
    pub fn new(constraint: &Constraint, vocabulary: &Vocabulary) -> Result<Self, ConstraintError> {
        let matcher = super::recognizer::matcher(constraint, &vocabulary.0)?;
        Ok(Self { matcher })
    }

    /// Returns the tokens that may come next; if the reply is complete, they include the one that ends it.
    ///
    /// # Errors
    ///
    /// [`ConstraintError::Engine`] when the engine ran out of what it may use.
    pub fn allowed(&mut self) -> Result<TokenSet, ConstraintError> {
        let mask = self.matcher.compute_mask_or_eos();
        mask.map(TokenSet).map_err(|error| engine(&error))
    }

    /// Records the token that was chosen.
    ///
    /// # Errors
    ///
    /// [`ConstraintError::Engine`] for a token that is not allowed.
    pub fn accept(&mut self, token: u32) -> Result<(), ConstraintError> {
        self.matcher
            .consume_token(token)
            .map_err(|error| engine(&error))
    }

    /// Returns whether nothing more may come.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.matcher.is_stopped()
    }

    /// Copies the mask in its current state, to explore another continuation.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self {
            matcher: self.matcher.deep_clone(),
        }
    }
}

fn engine(error: &impl std::fmt::Display) -> ConstraintError {
    ConstraintError::Engine {
        message: error.to_string(),
    }
}

impl std::fmt::Debug for TokenMask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenMask")
            .field("over", &self.is_over())
            .finish_non_exhaustive()
    }
}

/// A set of tokens.
#[derive(Clone, Debug)]
pub struct TokenSet(SimpleVob);

impl TokenSet {
    pub(super) fn all(vocabulary: &Vocabulary) -> Self {
        Self(SimpleVob::alloc_ones(vocabulary.size()))
    }

    /// Returns whether the set contains a token.
    #[must_use]
    pub fn contains(&self, token: u32) -> bool {
        usize::try_from(token).is_ok_and(|place| place < self.0.len()) && self.0.is_allowed(token)
    }

    /// Returns the tokens in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter()
    }

    /// Returns a bit for each token, the first in the lowest bit of the first word.
    #[must_use]
    pub fn words(&self) -> &[u32] {
        self.0.as_slice()
    }
}
