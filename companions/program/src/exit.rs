//! The exit codes; the table is in the documentation of [`cli`](super).

use crate::Status;

pub(super) const DONE: u8 = 0;
pub(super) const FAILED: u8 = 1;
pub(super) const USAGE: u8 = 2;

/// Below 64, where the codes of `sysexits.h` begin, and far from those of signals.
pub(super) const fn of(status: Status) -> u8 {
    match status {
        Status::Ok => DONE,
        Status::InvalidArguments => 3,
        Status::UnknownTool => 4,
        Status::Violation => 5,
        Status::Failed => 6,
        Status::Panicked => 7,
        Status::TimedOut => 8,
        Status::Cancelled => 9,
        Status::Overloaded => 10,
    }
}
