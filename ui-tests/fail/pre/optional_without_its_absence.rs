use contract_runtime::prelude::*;

/// Find a word.
#[tool(read_only)]
#[pre(limit > 0 && !word.is_empty())]
#[pre(language == "en")]
#[pre(from.is_none() || from >= -5)]
#[post(|found| *found > 0 || limit != 7)]
fn find(word: &str, limit: Option<u32>, language: Option<String>, from: Option<i8>) -> usize {
    let _ = (limit, language, from);
    word.len()
}

fn main() {}
