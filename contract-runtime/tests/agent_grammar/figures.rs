//! What grammars cost, printed.

use std::time::{Duration, Instant};

use contract_runtime::agent::{Constraint, TokenMask, Vocabulary};

use crate::tools::{Random, registry, sample};

fn each(total: Duration, count: usize) -> String {
    let count = u32::try_from(count.max(1)).unwrap_or(u32::MAX);
    format!("{:?}", total / count)
}

/// `cargo test --release --features grammar --test agent_grammar figures -- --nocapture`
#[test]
fn figures_of_a_grammar_of_nine_tools() {
    let registry = registry();
    let begun = Instant::now();
    let constraint = Constraint::replies(&registry, true).expect("it can be said");
    let made = begun.elapsed();
    let begun = Instant::now();
    let mut first = constraint.matching().expect("the engine reads the grammar");
    let compiled = begun.elapsed();
    first.push("{").expect("it begins like that");
    let mask =
        TokenMask::new(&constraint, &Vocabulary::bytes()).expect("the engine reads the grammar");
    let mut random = Random::new(9);
    let texts: Vec<String> = (0..40).filter_map(|_| sample(&mask, &mut random)).collect();
    let bytes: usize = texts.iter().map(String::len).sum();
    assert!(bytes > 1_000);
    let begun = Instant::now();
    for text in &texts {
        let mut matching = constraint.matching().expect("the engine reads the grammar");
        matching.push(text).expect("it was made by the grammar");
        matching.finish().expect("it is whole");
    }
    let read = begun.elapsed();
    println!(
        "9 tools: grammar {made:?}, {} bytes of GBNF, {} of Lark; read by the engine {compiled:?}; a reply of {} bytes {}, a byte {}",
        constraint.gbnf().len(),
        constraint.lark().len(),
        bytes / texts.len(),
        each(read, texts.len()),
        each(read, bytes),
    );
}
