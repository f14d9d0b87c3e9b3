//! Expressions that a `macro_rules!` of the author's puts into conditions stay what they were.

use contract_runtime::{catch, contract_assert, prelude::*};
use serde_json::json;

macro_rules! tools {
    ($less:ident, $not:ident, $by_default:ident, $sum:expr, $inside:expr, $q:ident) => {
        /// Take what is less.
        #[tool]
        #[pre($q <= 10 - $sum)]
        #[post(|out| *out == 10 - $sum || *out < 8)]
        fn $less($q: i32) -> i32 {
            contract_assert!($q <= 10 - $sum);
            $q
        }

        /// Take what is not inside.
        #[tool]
        #[pre(!$inside)]
        fn $not($q: i32) -> i32 {
            $q
        }

        /// Take a number.
        #[tool]
        #[pre($q >= -$sum)]
        fn $by_default(#[arg(default = 10 - $sum)] $q: i32) -> i32 {
            $q
        }
    };
}

tools! { less, not, by_default, 1 + 1, q > 3 && q < 9, q }

#[test]
fn an_expression_of_macro_rules_stays_one() {
    assert_eq!(catch(|| less(8)), Ok(8));
    assert!(catch(|| less(9)).is_err());
    assert_eq!(catch(|| not(9)), Ok(9));
    assert!(catch(|| not(5)).is_err());
    assert_eq!(catch(|| by_default(-2)), Ok(-2));
    assert!(catch(|| by_default(-3)).is_err());
}

#[test]
fn what_is_shown_of_it_is_what_holds() {
    let registry = Registry::builder()
        .tool(less)
        .tool(not)
        .tool(by_default)
        .build()
        .unwrap();
    let property =
        |tool: &str| registry.tool(tool).unwrap().input_schema()["properties"]["q"].clone();
    assert_eq!(property("less")["maximum"], json!(8));
    assert_eq!(property("by_default")["minimum"], json!(-2));
    assert_eq!(property("by_default")["default"], json!(8));
    let outcome = registry
        .call(ToolCall::new("1", "by_default", "{}"))
        .blocking();
    assert_eq!(outcome.output(), Some("8"));
    let text = registry.tool("less").unwrap().conditions()[0]
        .sentence()
        .to_owned();
    assert_eq!(text, "`q <= 10 - (1 + 1)`");
}
