use contract_runtime::prelude::*;

struct Store<T>(Vec<T>);

#[tool]
impl<T> Store<T> {
    /// Count what is there.
    #[tool(read_only)]
    fn count(&self) -> usize {
        self.0.len()
    }
}

fn main() {}
