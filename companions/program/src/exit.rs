//! The exit codes; the table is in the documentation of the [crate].

use contract_runtime::Status;

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
        Status::Asked => 11,
        Status::Denied => 12,
        Status::Refused => 13,
        _ => FAILED,
    }
}

#[cfg(test)]
mod tests {
    use contract_runtime::Status;

    use super::{FAILED, USAGE, of};

    #[test]
    fn every_status_has_a_code_of_its_own() {
        let codes: std::collections::BTreeSet<_> = Status::ALL.iter().copied().map(of).collect();
        assert_eq!(codes.len(), Status::ALL.len());
        assert!(!codes.contains(&FAILED) && !codes.contains(&USAGE));
    }
}
