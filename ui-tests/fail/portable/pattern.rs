use contract_runtime::prelude::*;

/// Close it.
#[tool]
#[pre(matches_pattern(&iban, r"^[A-Z{2}$"))]
#[pre(!iban.is_empty() && contract_runtime::matches_pattern(&iban, "(a"))]
#[post(|result| matches_pattern(result, r"(?=x)"))]
fn close(iban: String) -> String {
    contract_assert!(matches_pattern(&iban, "*"));
    iban
}

fn main() {}
