//! Compiles each file of `fail` and `pass`. `TRYBUILD=overwrite` writes what the compiler says into the `.stderr` files.

#[test]
fn mistakes_are_reported_clearly() {
    trybuild::TestCases::new().compile_fail("fail/*/*.rs");
}

#[test]
fn forms_are_accepted() {
    trybuild::TestCases::new().pass("pass/*.rs");
}
