//! The manifest: what is in it, what a change of it means, and how it is frozen.

mod arguments;
mod conditions;
mod document;
mod explain;
mod notes;
mod rules;
mod shown;
mod substitution;

use contract_manifest::{Diff, Manifest, Verdict};

/// The manifest of one tool, named `subject`, from its conditions and its function.
macro_rules! subject {
    ($($item:tt)*) => {{
        #[allow(unused_imports)]
        use contract_manifest::ToManifest as _;
        #[allow(unused_imports)]
        use contract_runtime::{post, pre};
        /// A subject.
        #[contract_runtime::tool]
        #[allow(unused_variables, dead_code)]
        $($item)*
        contract_runtime::Registry::builder().tool(subject).build().unwrap().manifest()
    }};
}

pub(crate) use subject;

/// Each change in a line, `-` before a breaking one and `+` before the others.
fn lines(diff: &Diff) -> Vec<String> {
    let line = |change: &contract_manifest::Change| {
        let sign = match change.verdict {
            Verdict::Breaking => '-',
            Verdict::Compatible => '+',
        };
        format!("{sign} {change}").replace("subject: ", "")
    };
    diff.changes().iter().map(line).collect()
}

/// What has changed, in both directions.
#[track_caller]
fn assert_changes(old: &Manifest, new: &Manifest, there: &[&str], back: &[&str]) {
    assert_eq!(lines(&new.diff(old)), there, "there");
    assert_eq!(lines(&old.diff(new)), back, "and back");
    for one in [old, new] {
        assert!(one.diff(one).is_empty());
    }
}
