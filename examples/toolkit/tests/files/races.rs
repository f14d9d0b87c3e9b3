//! The tools against somebody who swaps folders and files for links that lead out. The long run is `campaigns/races.rs`.

#[path = "../../campaigns/swapper.rs"]
mod swapper;

use std::time::Duration;

use crate::writing::{not_run, record};
use swapper::Operation;

const CALLS: u64 = 20_000;

/// Why there is no race.
const EXCHANGE: &str = "two names cannot be exchanged (`RENAME_EXCHANGE`)";

/// On a machine that has other things to do, there are fewer calls.
const LONGEST: Duration = Duration::from_secs(15);

/// One after the other: each needs a processor for itself and one for the swapper.
///
/// F3
#[test]
fn nothing_outside_is_read_or_written_while_folders_are_swapped_for_links() {
    for operation in Operation::TOOLS {
        let Some(figures) = operation.race(CALLS, LONGEST) else {
            not_run("F3", "nothing_outside_is_read_or_written_..", EXCHANGE);
            return;
        };
        record(&format!("{operation:?}: {figures:?}"));
        assert_eq!(figures.escapes, 0, "{operation:?}");
        // Both happened, so there was a race.
        assert!(
            figures.succeeded > 0 && figures.swaps > 0,
            "{operation:?}: {figures:?}"
        );
    }
}

/// The swapper is quick enough to deceive those who check a path and then open it.
///
/// F3
#[test]
fn who_checks_a_path_and_then_opens_it_is_deceived() {
    let mut escapes = 0;
    for _ in 0..10 {
        let Some(figures) = Operation::CheckThenOpen.race(CALLS, LONGEST) else {
            not_run(
                "F3",
                "who_checks_a_path_and_then_opens_it_is_deceived",
                EXCHANGE,
            );
            return;
        };
        record(&format!("checked, then opened: {figures:?}"));
        escapes += figures.escapes;
        if escapes > 0 {
            return;
        }
    }
    panic!("the swapper is too slow to be a threat");
}
