/// What a handshake may bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Tools, known and custom together.
    pub tools: usize,
    /// Bytes of one custom tool, as JSON.
    pub tool_bytes: usize,
    /// How deep its schemas may be nested.
    pub depth: usize,
    /// Characters of one description.
    pub description: usize,
}

impl Default for Limits {
    /// 128 tools, 64 KiB and 32 levels each, 4,000 characters.
    fn default() -> Self {
        Self {
            tools: 128,
            tool_bytes: 64 << 10,
            depth: 32,
            description: 4_000,
        }
    }
}
