/// Book a room for a part of one day.
#[tool(idempotent)]
#[pre(end > start, "the end must come after the start")]
#[pre(end <= 24 * 60, "the booking must end on the same day")]
#[post(|minutes| *minutes > 0)]
fn book_room(start: u32, end: u32) -> u32 {
    end - start
}
