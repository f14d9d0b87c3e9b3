//! Numbers that a parser hands over as text.
//!
//! Where a crate in the tree has switched on the `arbitrary_precision` of `serde_json`, a number that no integer of 64 bits holds
//! is handed over as an object of one member, to whoever takes any value.

/// The key of that member.
const KEY: &str = "$serde_json::private::Number";

/// Whether this is the key of the only member of an object that stands for a number.
#[inline]
pub(crate) fn is_key(key: &str) -> bool {
    key == KEY && is_switched_on()
}

/// Otherwise it is a key as any other.
#[cold]
fn is_switched_on() -> bool {
    serde_json::from_str::<serde_json::Number>("1e999").is_ok()
}

/// The float nearest to the digits; none holds a number that is out of range.
pub(crate) fn float<E: serde::de::Error>(digits: &str) -> Result<f64, E> {
    let float = digits.parse().ok().filter(|float: &f64| float.is_finite());
    // In the words of the parser, which refuses such a number by itself elsewhere.
    float.ok_or_else(|| E::custom("number out of range"))
}
