/// Book a room for a part of one day, or of two.
#[tool]
#[pre(end > start, "the end must come after the start")]
#[pre(end <= 48 * 60, "the booking must end on the next day")]
#[pre(end - start <= 8 * 60, "nobody needs a room for longer than eight hours")]
fn book_room(start: u32, end: u32, #[arg(default = 1)] seats: u8) -> u32 {
    u32::from(seats) * (end - start)
}
