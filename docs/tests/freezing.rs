//! The report that the page on freezing shows is the one that such a change gives.

use contract_runtime::prelude::*;

const PAGE: &str = include_str!("../src/freezing.md");

/// One edition of the tool: its source, and its manifest.
macro_rules! edition {
    ($name:ident, $file:literal) => {
        mod $name {
            use contract_manifest::{Manifest, ToManifest as _};
            use contract_runtime::prelude::*;

            include!($file);

            pub(super) const SOURCE: &str = include_str!($file);

            pub(super) fn manifest() -> Result<Manifest, BuildError> {
                let registry = Registry::builder().tool(book_room).build()?;
                Ok(registry.manifest())
            }
        }
    };
}

edition!(before, "freezing/before.rs");
edition!(now, "freezing/now.rs");

#[track_caller]
fn assert_shown(text: &str) {
    assert!(
        PAGE.contains(text),
        "freezing.md does not show this:\n{text}"
    );
}

#[test]
fn the_report_is_real() -> Result<(), BuildError> {
    assert_shown(before::SOURCE);
    assert_shown(now::SOURCE);
    let diff = now::manifest()?.diff(&before::manifest()?);
    assert_shown(&format!("```text\n{diff}\n```"));
    Ok(())
}
