use contract_runtime::prelude::*;

/// Book a room for a part of one day.
#[tool]
#[pre(end > start, "the end ({end}) must come after the start ({start})")]
#[pre(end <= 24 * 60, "the booking must end on the same day")]
#[post(|minutes| start + *minutes == end)]
fn book_room(
    /// Minutes after midnight.
    start: u32,
    /// Minutes after midnight.
    end: u32,
) -> u32 {
    end - start
}
