//! Compiles each file of `fail`. `TRYBUILD=overwrite` writes what the compiler says into the `.stderr` files.

#[test]
fn mistakes_are_reported_clearly() {
    trybuild::TestCases::new().compile_fail("fail/*/*.rs");
}
