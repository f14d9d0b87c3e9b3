/// What a handshake may bring.
///
/// A tool that exceeds them is refused by name; the rest stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Tools, known and custom together.
    pub tools: usize,
    /// Bytes of all custom tools together, as JSON; those that are refused count.
    pub total_bytes: usize,
    /// Bytes of one custom tool, as JSON.
    pub tool_bytes: usize,
    /// How deep it may be nested, from its outermost object.
    pub depth: usize,
    /// Conditions of one tool.
    pub conditions: usize,
    /// Bytes of the regular expressions of all custom tools together, once they are compiled.
    pub pattern_bytes: usize,
    /// Characters of one description, sentence or message; longer ones are cut.
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
