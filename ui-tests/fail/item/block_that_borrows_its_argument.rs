use contract_runtime::prelude::*;

struct Store<'a>(&'a str);

#[tool]
impl<'a> Store<'a> {
    /// Find a word.
    #[tool(read_only)]
    fn find(&self, word: &'a str) -> bool {
        self.0.contains(word)
    }
}

fn main() {}
