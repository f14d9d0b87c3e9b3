//! Whether the user agreed to a write. Only the conversation knows, so it comes with the call.

/// The user's answer to the details that the agent listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// The user said yes.
    Given,
    /// The user was not asked, or did not say yes.
    Missing,
}

impl Consent {
    /// Says whether the user said yes.
    #[must_use]
    pub fn is_given(self) -> bool {
        self == Self::Given
    }
}
