//! The libraries, each with the same tools written as its own documentation writes them.

mod aisdk;
mod by_hand;
mod llm_tool;
mod ours;
mod rig;
mod rmcp;
pub mod swiftide;

use crate::meter::Meter;
use crate::work::Work;

pub(crate) struct Library {
    /// As the table names it.
    pub(crate) name: &'static str,
    /// Measures the work, if the library can do it.
    pub(crate) run: fn(&Meter, Work),
}

/// What all others are compared with comes first.
pub(crate) const LIBRARIES: [Library; 8] = [
    Library {
        name: "by hand",
        run: by_hand::run,
    },
    Library {
        name: "contract-runtime",
        run: ours::run,
    },
    Library {
        name: "aisdk",
        run: aisdk::run,
    },
    Library {
        name: "llm-tool",
        run: llm_tool::run,
    },
    Library {
        name: "llm-tool, bare output",
        run: llm_tool::run_bare,
    },
    Library {
        name: "rig",
        run: rig::run,
    },
    Library {
        name: "rmcp",
        run: rmcp::run,
    },
    Library {
        name: "swiftide",
        run: swiftide::run,
    },
];
