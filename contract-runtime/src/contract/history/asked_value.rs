//! The value of an argument in a question.

use serde::Serialize;

/// A value by which a question to a [`History`](crate::History) is narrowed: anything that is written as JSON.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be compared with an argument, because it is not written as JSON",
    label = "expected a value of the argument, such as `&order_id`",
    note = "derive `Serialize` for your own types"
)]
pub trait AskedValue: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + ?Sized> AskedValue for T {}
