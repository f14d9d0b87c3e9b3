//! The value of an argument in a question.

use std::borrow::Cow;

use serde::Serialize;

/// A value by which a question to a [`History`](crate::History) is narrowed: a text, an integer, a boolean, or an `Option` or
/// list of them. An integer of more than 64 bits cannot be told apart from others, and its condition fails.
///
/// Arguments are remembered as they were sent, and each of these can be sent in one way only. A float, a set or a type of your
/// own may be written otherwise than it was sent, and would then be found in no call.
#[diagnostic::on_unimplemented(
    message = "calls cannot be told apart by a value of `{Self}`, which may be written otherwise than it was sent",
    label = "expected a text, an integer or a boolean",
    note = "ask by an argument that names the thing, such as `&order_id`; of a type of your own, by the text or number in it"
)]
pub trait AskedValue: Serialize {}

macro_rules! asked_values {
    ($($ty:ty),*) => {
        $(
            #[diagnostic::do_not_recommend]
            impl AskedValue for $ty {}
        )*
    };
}

asked_values!(
    str, String, bool, char, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize
);

/// Of an argument that a tool takes as JSON.
#[diagnostic::do_not_recommend]
impl AskedValue for serde_json::Value {}

#[diagnostic::do_not_recommend]
impl<T: AskedValue + ?Sized> AskedValue for &T {}

#[diagnostic::do_not_recommend]
impl<T: AskedValue + ?Sized + ToOwned> AskedValue for Cow<'_, T> {}

#[diagnostic::do_not_recommend]
impl<T: AskedValue> AskedValue for Option<T> {}

#[diagnostic::do_not_recommend]
impl<T: AskedValue> AskedValue for Vec<T> {}

#[diagnostic::do_not_recommend]
impl<T: AskedValue> AskedValue for [T] {}
