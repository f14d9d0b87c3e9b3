//! Which standard type a parameter has, found by the compiler: a schema alone does not say whether `x.len()` counts bytes.

#![allow(missing_docs, reason = "it is the hidden interface of generated code")]

use std::any::TypeId;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::shim::type_of;
use crate::contract::expression::Expression;
use crate::contract::pattern::matches_pattern;

/// What the methods and operators of a parameter's type mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// A type of the author's, of which nothing is known.
    Opaque,
    Bool,
    /// An integer of these ends; those of `u128` beyond `i128::MAX` are kept there.
    Integer {
        low: i128,
        high: i128,
    },
    /// `f32` where `single`.
    Float {
        single: bool,
    },
    /// UTF-8: `len()` counts bytes.
    Text,
    Character,
    /// `len()` counts items, of this form.
    List(&'static Form),
    Optional(&'static Form),
}

/// A type whose form is known whole.
pub trait Formed {
    const FORM: Form;
}

/// `Shape::<T>::FORM`: the constant of the type itself where there is one, else that of [`Unformed`].
///
/// An inherent constant goes before one of a trait, and is passed over where its bounds do not hold.
#[derive(Debug)]
pub struct Shape<T: ?Sized>(PhantomData<T>);

impl<T: ?Sized + Formed> Shape<T> {
    pub const FORM: Form = T::FORM;
}

pub trait Unformed {
    const FORM: Form = Form::Opaque;
}

impl<T: ?Sized> Unformed for Shape<T> {}

/// The same for a container whose items are of the author's type: their count is still known.
#[derive(Debug)]
pub struct Container<T: ?Sized>(PhantomData<T>);

const LIST: Form = Form::List(&Form::Opaque);
const OPTIONAL: Form = Form::Optional(&Form::Opaque);

/// Containers of any item.
macro_rules! containers {
    ($form:ident: $([$($n:tt)*] $name:ty,)*) => {$(
        impl<T $($n)*> Container<$name> {
            pub const FORM: Form = $form;
        }
    )*};
}

// Not sets and maps: they count after what is equal has become one, a schema counts before.
containers! { LIST:
    [] Vec<T>,
    [] VecDeque<T>,
    [] &[T],
    [] &Vec<T>,
    [] Box<[T]>,
    [] Arc<[T]>,
    [, const N: usize] [T; N],
    [, const N: usize] &[T; N],
}

containers! { OPTIONAL:
    [] Option<T>,
    [] &Option<T>,
}

impl<T: ?Sized> Unformed for Container<T> {}

/// How a test of one parameter is asked: as it was read where the parameter's form says what that means, else of Rust.
#[must_use]
pub const fn either(form: Form, read: Expression, native: Expression) -> Expression {
    match form {
        Form::Opaque | Form::Optional(&Form::Opaque) => native,
        _ => read,
    }
}

/// The more that is known.
#[must_use]
pub const fn form(whole: Form, container: Form) -> Form {
    match whole {
        Form::Opaque => container,
        known => known,
    }
}

/// A constant, whose value is read only if its type is one of those whose operators mean everywhere what they mean in JSON.
#[derive(Debug)]
pub struct Known<'c, T: ?Sized>(&'c T, Unknown);

#[derive(Debug)]
pub struct Unknown;

impl<'c, T: ?Sized> Known<'c, T> {
    pub const fn new(constant: &'c T) -> Self {
        Self(constant, Unknown)
    }
}

impl<T: ?Sized + Formed + Serialize> Known<'_, T> {
    #[must_use]
    pub fn json(&self) -> Option<Value> {
        serde_json::to_value(self.0).ok()
    }
}

impl<T: ?Sized> std::ops::Deref for Known<'_, T> {
    type Target = Unknown;
    fn deref(&self) -> &Unknown {
        &self.1
    }
}

impl Unknown {
    #[must_use]
    #[allow(
        clippy::unused_self,
        reason = "it is called as the method it stands in for"
    )]
    pub const fn json(&self) -> Option<Value> {
        None
    }
}

/// The pattern of a call, if the function that is called is the one whose patterns can be published.
#[must_use]
pub fn pattern<F: 'static>(_: &F, pattern: Option<Value>) -> Option<Value> {
    let ours = TypeId::of::<F>() == type_of(&matches_pattern);
    pattern.filter(|_| ours)
}

macro_rules! integers {
    ($($name:ty)*) => {$(
        impl Formed for $name {
            #[allow(clippy::cast_possible_wrap, clippy::cast_lossless, reason = "no value of these is changed")]
            const FORM: Form = Form::Integer { low: <$name>::MIN as i128, high: <$name>::MAX as i128 };
        }
    )*};
}

integers! { u8 u16 u32 u64 usize i8 i16 i32 i64 i128 isize }

impl Formed for u128 {
    const FORM: Form = Form::Integer {
        low: 0,
        high: i128::MAX,
    };
}

macro_rules! formed {
    ($($name:ty => $form:expr,)*) => {$(
        impl Formed for $name {
            const FORM: Form = $form;
        }
    )*};
}

formed! {
    bool => Form::Bool,
    f32 => Form::Float { single: true },
    f64 => Form::Float { single: false },
    char => Form::Character,
    str => Form::Text,
    String => Form::Text,
    Cow<'_, str> => Form::Text,
}

macro_rules! wrappers {
    ($($name:ty)*) => {$(
        impl<T: ?Sized + Formed> Formed for $name {
            const FORM: Form = T::FORM;
        }
    )*};
}

wrappers! { &T Box<T> Arc<T> }

impl<T: Formed> Formed for Vec<T> {
    const FORM: Form = Form::List(&T::FORM);
}

impl<T: Formed> Formed for VecDeque<T> {
    const FORM: Form = Form::List(&T::FORM);
}

impl<T: Formed> Formed for [T] {
    const FORM: Form = Form::List(&T::FORM);
}

impl<T: Formed, const N: usize> Formed for [T; N] {
    const FORM: Form = Form::List(&T::FORM);
}

impl<T: Formed + Clone> Formed for Cow<'_, [T]> {
    const FORM: Form = Form::List(&T::FORM);
}

impl<T: Formed> Formed for Option<T> {
    const FORM: Form = Form::Optional(&T::FORM);
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Own;
    type Alias = String;

    macro_rules! form_of {
        ($ty:ty) => {
            form(Shape::<$ty>::FORM, Container::<$ty>::FORM)
        };
    }

    const BYTE: Form = Form::Integer { low: 0, high: 255 };

    #[test]
    fn the_compiler_sees_through_names_references_and_boxes() {
        assert_eq!(form_of!(Alias), Form::Text);
        assert_eq!(form_of!(&Box<Arc<str>>), Form::Text);
        assert_eq!(form_of!(Cow<'_, str>), Form::Text);
        assert_eq!(form_of!(&u8), BYTE);
        assert_eq!(
            form_of!(Option<&f32>),
            Form::Optional(&Form::Float { single: true })
        );
        for list in [
            form_of!([u8; 3]),
            form_of!(&[u8]),
            form_of!(Vec<u8>),
            form_of!(VecDeque<u8>),
            form_of!(Cow<'_, [u8]>),
        ] {
            assert_eq!(list, Form::List(&BYTE));
        }
    }

    #[test]
    fn items_of_an_unknown_type_are_still_items() {
        for list in [
            form_of!([Own; 3]),
            form_of!(&[Own]),
            form_of!(Vec<Own>),
            form_of!(Box<[Own]>),
            form_of!(&[Own; 2]),
        ] {
            assert_eq!(list, Form::List(&Form::Opaque));
        }
        assert_eq!(form_of!(Option<Own>), Form::Optional(&Form::Opaque));
        assert_eq!(form_of!(&Option<Own>), Form::Optional(&Form::Opaque));
    }

    #[test]
    fn what_counts_or_compares_otherwise_is_unknown() {
        use std::collections::{BTreeMap, HashSet};
        let unknown = [
            form_of!(Own),
            form_of!(HashSet<u8>),
            form_of!(BTreeMap<String, u8>),
            form_of!(std::path::PathBuf),
            form_of!(()),
        ];
        assert_eq!(unknown, [Form::Opaque; 5]);
    }

    #[test]
    fn only_a_constant_of_a_known_type_has_a_value() {
        #[derive(Serialize)]
        struct Ports(u16, u16);
        assert_eq!(
            Known::new(&[1_u8, 9]).json(),
            Some(serde_json::json!([1, 9]))
        );
        assert_eq!(Known::new("a").json(), Some(Value::from("a")));
        assert_eq!(Known::new(&Ports(1, 9)).json(), None);
        assert_eq!(Known::new(&Own).json(), None);
    }
}
