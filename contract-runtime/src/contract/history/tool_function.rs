//! Names a tool by its function item.

/// A function that a history is asked about: the function item of a tool, such as `find_user` or `Store::find_user`.
///
/// Whether the function is a tool is checked when a registry is built.
#[diagnostic::on_unimplemented(
    message = "a history is asked about a tool by its function, and `{Self}` is not a function",
    label = "expected a function, such as `find_user` or `Store::find_user`",
    note = "for a tool that is not a function here, write `seen_named(\"find_user\")`, `ok_named(..)` or `count_named(..)`"
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

functions!();
functions!(A);
functions!(A B);
functions!(A B C);
functions!(A B C D);
functions!(A B C D E);
functions!(A B C D E F);
functions!(A B C D E F G);
functions!(A B C D E F G H);
functions!(A B C D E F G H I);
functions!(A B C D E F G H I J);
functions!(A B C D E F G H I J K);
functions!(A B C D E F G H I J K L);
functions!(A B C D E F G H I J K L M);
functions!(A B C D E F G H I J K L M N);
functions!(A B C D E F G H I J K L M N O);
functions!(A B C D E F G H I J K L M N O P);
