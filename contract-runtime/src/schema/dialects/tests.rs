//! Tests of the steps that the dialects share.

use serde_json::json;

use super::description::without_widths;

#[test]
fn the_ends_of_wide_types_are_not_said_but_those_of_conditions_are() {
    let types = json!({"properties": {
        "wide": {"type": "integer", "minimum": 0, "maximum": u64::MAX},
        "half": {"type": "integer", "minimum": i32::MIN, "maximum": i32::MAX},
        "byte": {"type": "integer", "minimum": 0, "maximum": 255},
        "long": {"type": "integer", "minimum": i64::MIN, "maximum": i64::MAX},
    }});
    let mut input = types.clone();
    input["properties"]["wide"]["minimum"] = json!(1);
    // The same number as the end of another type, but from a condition.
    input["properties"]["long"]["maximum"] = json!(i32::MAX);
    assert_eq!(
        without_widths(&input, &types, 64),
        json!({"properties": {
            "wide": {"type": "integer", "minimum": 1},
            "half": {"type": "integer", "minimum": i32::MIN, "maximum": i32::MAX},
            "byte": {"type": "integer", "minimum": 0, "maximum": 255},
            "long": {"type": "integer", "maximum": i32::MAX},
        }})
    );
    assert_eq!(
        without_widths(&input, &types, 32)["properties"]["half"],
        json!({"type": "integer"})
    );
    assert_eq!(
        without_widths(&input, &types, 32)["properties"]["long"],
        json!({"type": "integer", "maximum": i32::MAX})
    );
}
