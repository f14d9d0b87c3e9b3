use contract_runtime::prelude::*;

struct Store<T>(Vec<T>);

#[tool]
impl<T: Clone> Store<T> {
    /// Count what is there.
    #[tool(read_only)]
    fn count(&self) -> usize {
        self.0.len()
    }
}

struct Pair<A, B>(A, B);

#[tool]
impl<A: Send + Sync, B> Pair<A, B>
where
    B: Clone,
{
    /// Count what is there.
    #[tool(read_only)]
    fn count(&self) -> usize {
        2
    }
}

fn main() {}
