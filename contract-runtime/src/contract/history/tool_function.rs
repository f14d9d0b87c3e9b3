//! Names a tool by its function item.

/// A function that names a tool, for a registry or a history: a function item such as `find_user`, of at most 26 parameters.
///
/// Whether the function is a tool is checked when a registry is built.
#[diagnostic::on_unimplemented(
    message = "a tool is named by its function, and `{Self}` is not a function",
    label = "expected a function, such as `find_user` or `Store::find_user`",
    note = "ask a history about a tool that is not a function here by `seen_named(\"find_user\")`, `ok_named(..)` or `count_named(..)`, and add it to a registry by `.with(tool)`"
)]
pub trait ToolFunction<Signature>: 'static {}

macro_rules! functions {
    ($($parameter:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<Function, Output, $($parameter),*> ToolFunction<fn($($parameter),*) -> Output> for Function where
            Function: Fn($($parameter),*) -> Output + 'static
        {
        }
    };
}

/// For this many parameters, and for any smaller number.
macro_rules! functions_up_to {
    () => { functions!(); };
    ($first:ident $($rest:ident)*) => {
        functions!($first $($rest)*);
        functions_up_to!($($rest)*);
    };
}

functions_up_to!(A B C D E F G H I J K L M N O P Q R S T U V W X Y Z);
