//! The limits of a handshake.

/// The limits on a handshake.
///
/// A tool that exceeds them is refused by name; the rest stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The maximum number of tools, known and custom together.
    pub tools: usize,
    /// The maximum size of all custom tools together, in bytes of JSON; refused ones count.
    pub total_bytes: usize,
    /// The maximum size of one custom tool, in bytes of JSON.
    pub tool_bytes: usize,
    /// The maximum nesting depth of a custom tool, from its outermost object.
    pub depth: usize,
    /// The maximum number of conditions of one tool.
    pub conditions: usize,
    /// The maximum size of the compiled regular expressions of all custom tools together, in bytes.
    pub pattern_bytes: usize,
    /// The maximum length of one description, sentence or message, in characters; longer ones are cut.
    pub description: usize,
}

impl Default for Limits {
    /// 128 tools in 2 MiB; 64 KiB, 32 levels and 64 conditions each; 8 MiB of compiled patterns; 4,000 characters.
    fn default() -> Self {
        Self {
            tools: 128,
            total_bytes: 2 << 20,
            tool_bytes: 64 << 10,
            depth: 32,
            conditions: 64,
            pattern_bytes: 8 << 20,
            description: 4_000,
        }
    }
}
