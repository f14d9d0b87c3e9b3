use super::tokens;
use crate::source::text;

/// Outside a compiler the places of tokens are unknown, so this pins the usual spacing.
#[test]
fn usual_spacing() {
    for source in [
        "divisor != 0.0",
        "*out > 0.0",
        "|out| *out > 0.0 && !out.is_nan()",
        "|x| x.is_some_and(|y| *y > -1)",
        "(0..=10).contains(&limit)",
        "items.iter().all(|item| item.len() <= 5)",
        "matches!(a, Some(1 | 2))",
        "a as i64 - 1 == f(x, y)[0]",
        "std::path::Path::new(p).exists()",
        "x? || y",
    ] {
        assert_eq!(text(&tokens(source)), source);
    }
}
