//! The supported protocol revisions, and what each lacks compared with the newest.
//!
//! Source: Model Context Protocol, "Key Changes" and `schema.ts` of each revision.

use rmcp::model::{Implementation, ProtocolVersion, Tool};

/// A revision of the protocol; a later one is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Revision {
    November2024,
    March2025,
    June2025,
    November2025,
    July2026,
}

impl Revision {
    /// Oldest first.
    pub(super) const SUPPORTED: &[ProtocolVersion] = &[
        ProtocolVersion::V_2024_11_05,
        ProtocolVersion::V_2025_03_26,
        ProtocolVersion::V_2025_06_18,
        ProtocolVersion::V_2025_11_25,
        ProtocolVersion::V_2026_07_28,
    ];

    /// The revision of a negotiated version.
    pub(super) fn of(version: &ProtocolVersion) -> Self {
        // Versions are dates, so comparing them as text is right.
        match version.as_str() {
            date if date < "2025-03-26" => Self::November2024,
            date if date < "2025-06-18" => Self::March2025,
            date if date < "2025-11-25" => Self::June2025,
            date if date < "2026-07-28" => Self::November2025,
            _ => Self::July2026,
        }
    }

    /// Whether a tool has an output schema and a result is structured.
    pub(super) fn has_structured_results(self) -> bool {
        self >= Self::June2025
    }

    /// Whether content may be audio.
    pub(super) fn has_audio(self) -> bool {
        self >= Self::March2025
    }

    /// Whether content may be a link, and each block have annotations of every kind.
    pub(super) fn has_links(self) -> bool {
        self >= Self::June2025
    }

    /// Whether a report of progress has a message.
    pub(super) fn has_progress_messages(self) -> bool {
        self >= Self::March2025
    }

    /// Whether a client can be asked something by a form. A client of 2025-06-18 also gets `mode`, which it ignores.
    pub(super) fn has_elicitation(self) -> bool {
        self >= Self::June2025
    }

    /// Whether an error that belongs to no request omits `id`; earlier revisions require it, and JSON-RPC 2.0 (section 5)
    /// uses `null`.
    pub(super) fn has_errors_without_id(self) -> bool {
        self >= Self::November2025
    }

    /// Whether a stream may have events without data, which older clients report as unreadable messages.
    pub(super) fn has_empty_events(self) -> bool {
        self >= Self::November2025
    }

    /// Removes the fields of a tool that this revision does not define.
    pub(super) fn strip_tool(self, tool: &mut Tool) {
        if self < Self::June2025 {
            tool.title = None;
            tool.output_schema = None;
            tool.meta = None;
        }
        if self < Self::March2025 {
            tool.annotations = None;
        }
    }

    /// Removes the fields of a server's description that this revision does not define.
    pub(super) fn strip_implementation(self, implementation: &mut Implementation) {
        if self < Self::November2025 {
            implementation.website_url = None;
        }
        if self < Self::June2025 {
            implementation.title = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_supported_version_is_a_revision_of_its_own() {
        let revisions: Vec<_> = Revision::SUPPORTED.iter().map(Revision::of).collect();
        assert!(
            revisions.windows(2).all(|two| two[0] < two[1]),
            "{revisions:?}"
        );
        assert_eq!(Revision::SUPPORTED, ProtocolVersion::KNOWN_VERSIONS);
    }
}
