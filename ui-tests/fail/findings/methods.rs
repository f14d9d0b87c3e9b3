use contract_runtime::prelude::*;

struct Store(u32);

const MOST: usize = 4;

#[tool]
impl Store {
    /// Put it in.
    #[tool]
    #[pre(items.is_empty())]
    #[pre(items.len() > MOST)]
    fn put(&self, items: Vec<u8>) {}
}

struct Shelf<T>(T);

#[tool]
impl<T: Send + Sync + 'static> Shelf<T> {
    /// Put it in.
    #[tool]
    #[pre(items.is_empty())]
    #[pre(items.len() > 4)]
    fn put(&self, items: Vec<u8>) {}
}

fn main() {}
