use contract_runtime::prelude::*;

/// Measure it.
#[tool]
fn measure(
    #[arg(name = "the_size_of_everything_that_has_ever_been_measured_by_anybody_anywhere")] size: u32,
) -> u32 {
    size
}

fn main() {}
