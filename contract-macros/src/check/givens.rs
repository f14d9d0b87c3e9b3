//! Rules for what is given.

use syn::{ReturnType, Type};

use super::bare;
use crate::errors::Errors;
use crate::given::can_fail;
use crate::model::{Function, Given};

/// What a given ends early with needs a type, and somebody who gets it.
pub(super) fn return_to_somebody(errors: &mut Errors, givens: &[Given], function: &Function) {
    if givens.is_empty() {
        return;
    }
    let ReturnType::Type(_, ty) = &function.sig.output else {
        return;
    };
    if let Type::Never(never) = bare(ty) {
        errors.on(
            never,
            "a function that never returns cannot give anything back; look it up in the body",
        );
    } else if super::holds_impl(ty) && can_fail(givens) {
        errors.on(
            ty,
            "the error of a given is returned, so the type must have a name; write it instead of `impl Trait`",
        );
    }
}
