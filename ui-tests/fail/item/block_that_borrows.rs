use contract_runtime::prelude::*;

struct Store<'a>(&'a str);

#[tool]
impl<'a> Store<'a> {
    /// Read a letter.
    #[tool(read_only)]
    fn letter(&self, at: usize) -> Option<char> {
        self.0.chars().nth(at)
    }
}

fn main() {}
