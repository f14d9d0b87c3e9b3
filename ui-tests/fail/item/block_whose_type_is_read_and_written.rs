use contract_runtime::prelude::*;

struct Store<T>(Vec<T>);

#[tool]
impl<T: Clone + Send + Sync + 'static> Store<T> {
    /// Look for one of them.
    #[tool(read_only)]
    fn find(&self, all: Vec<T>) -> usize {
        self.0.len() + all.len()
    }
}

struct Last<T>(T);

#[tool]
impl<T: Clone> Last<T> {
    /// Get the last one.
    #[tool(read_only)]
    fn get(&self, or: T) -> Result<Option<T>, String> {
        drop(or);
        Ok(Some(self.0.clone()))
    }
}

fn main() {}
