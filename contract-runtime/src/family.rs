//! What the companion crates use that is not public. Unstable: they are released together with this crate.

// Conditions as trees, from which rules, differences and generated inputs are made. They change with what the macro can read.
pub use crate::contract::expression::{Comparison, Expression, Operation};
pub use crate::contract::type_kind::TypeKind;
pub use crate::schema::lower::normal::{Constant, Normal, finite_values, passing_values};
pub use crate::schema::lower::sentence::{below_headings, of_message, of_predicate};
pub use crate::schema::lower::{Subject, Subjects};
pub use crate::schema::pattern::{ASCII, portable as portable_pattern};

// The engine of `contract-schema`, as far as it is hidden there too: single keywords, numbers as text, and results that are corrected.
pub use crate::schema::{
    Decimal, KeywordValue, check_schema, correct_output, holds, percent_decode,
};

// Calls that are tried and not made, and the methods of packages, for tests and lints.
pub use crate::registry::dry_run::{Setup, TriedTool};
pub use crate::registry::methods::{self, UPDATE_COMMAND, is_update};
pub use crate::tool::outcome::is_unwritable;

// Words that are the same in all crates: names that are near, texts that are safe to show, and what the model reads.
pub use crate::registry::is_tool_name;
pub use crate::schema::arguments::{escaped, nearest, unsafe_to_show};
pub use crate::tool::failure::MAY_HAVE_TAKEN_EFFECT;
pub use crate::tool::wire::canonical;

// Calls code of the program; its panic is an error, and is reported once.
pub use crate::contract::panics::{Panicked, guard};
