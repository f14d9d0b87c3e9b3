use contract_runtime::prelude::*;

struct Clock;

#[tool]
impl Clock {
    /// Wait.
    #[tool]
    fn wait(&self) {}

    fn wake(&self, #[arg(secret)] _who: u32) {}
}

fn main() {}
