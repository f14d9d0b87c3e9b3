//! What the companion crates use that is not public. Unstable: they are released together with this crate.

pub use crate::contract::expression::{Comparison, Expression, Operation};
pub use crate::contract::panics::{Panicked, guard};
pub use crate::contract::scope::written;
pub use crate::contract::type_kind::TypeKind;
pub use crate::registry::dry_run::{Setup, TriedTool};
pub use crate::registry::is_tool_name;
pub use crate::registry::methods::{self, UPDATE_COMMAND, is_update};
pub use crate::schema::arguments::{escaped, nearest, unsafe_to_show};
pub use crate::schema::lower::constant::Constant;
pub use crate::schema::lower::sentence::{below_headings, of_message, of_predicate};
pub use crate::schema::lower::{Subject, Subjects, finite};
pub use crate::schema::pattern::{ASCII, portable as portable_pattern};
pub use crate::schema::{
    Decimal, KeywordValue, check_schema, correct_output, holds, percent_decode,
};
pub use crate::tool::canonical::canonical;
pub use crate::tool::context::now;
pub use crate::tool::failure::MAY_HAVE_TAKEN_EFFECT;
pub use crate::tool::outcome::is_unwritable;
