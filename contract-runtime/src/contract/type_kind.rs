//! The standard type of a parameter, found by the compiler: a schema does not say what `x.len()` counts.

use std::any::{Any as _, TypeId};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::expression::Expression;
use super::pattern::matches_pattern;

/// What the methods and operators of a parameter's type mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TypeKind {
    /// A type of the author, about which nothing is known.
    Opaque,
    /// `bool`
    Bool,
    /// An integer with these bounds. Values of `u128` above `i128::MAX` count as `i128::MAX`.
    Integer {
        /// The least value.
        low: i128,
        /// The greatest value.
        high: i128,
    },
    /// `f32` where `single`.
    Float {
        /// Whether it is `f32`, and not `f64`.
        single: bool,
    },
    /// UTF-8: `len()` counts bytes.
    Text,
    /// `char`
    Character,
    /// A list of items of this kind; `len()` counts items.
    List(&'static TypeKind),
    /// `Option` of this kind.
    Optional(&'static TypeKind),
}

/// A type whose kind is completely known.
pub trait KnownKind {
    /// The kind of the type.
    const KIND: TypeKind;
}

/// `Shape::<T>::KIND`: the constant of the type itself where there is one, else that of [`UnknownKind`].
///
/// An inherent constant takes precedence over one of a trait, and does not apply if its bounds do not hold.
#[derive(Debug)]
pub struct Shape<T: ?Sized>(PhantomData<T>);

impl<T: ?Sized + KnownKind> Shape<T> {
    /// The kind of the type.
    pub const KIND: TypeKind = T::KIND;
}

/// A type about which nothing is known.
pub trait UnknownKind {
    /// The kind of the type.
    const KIND: TypeKind = TypeKind::Opaque;
}

impl<T: ?Sized> UnknownKind for Shape<T> {}

/// The kind of what a function returns. Of a `Result` it is the kind of the value, which is what a postcondition sees.
#[derive(Debug)]
pub struct Returned<T>(PhantomData<T>);

impl<T: KnownKind> Returned<T> {
    /// The kind of the type.
    pub const KIND: TypeKind = T::KIND;
}

impl<T: KnownKind, E> Returned<Result<T, E>> {
    /// The kind of the `Ok` value.
    pub const KIND: TypeKind = T::KIND;
}

impl<T> UnknownKind for Returned<T> {}

/// The kind of a container whose items are of the author's type. Their number is still known.
#[derive(Debug)]
pub struct Container<T: ?Sized>(PhantomData<T>);

const LIST: TypeKind = TypeKind::List(&TypeKind::Opaque);
const OPTIONAL: TypeKind = TypeKind::Optional(&TypeKind::Opaque);

/// Containers of any item.
macro_rules! containers {
    ($kind:ident: $([$($n:tt)*] $name:ty,)*) => {$(
        impl<T $($n)*> Container<$name> {
            /// The kind of the container.
            pub const KIND: TypeKind = $kind;
        }
    )*};
}

// Sets and maps are left out: they count after equal items have become one, and a schema counts before.
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

impl<T: ?Sized> UnknownKind for Container<T> {}

/// Chooses how a test of one parameter is evaluated: as it was read, if the parameter's kind says what that means, else as Rust.
#[must_use]
pub const fn either(kind: TypeKind, read: Expression, native: Expression) -> Expression {
    match kind {
        TypeKind::Opaque | TypeKind::Optional(&TypeKind::Opaque) => native,
        _ => read,
    }
}

/// Chooses how a conversion is read: as its operand, if the new type holds every value of the old one; otherwise not at all.
#[must_use]
pub const fn converted(
    from: TypeKind,
    to: TypeKind,
    read: Expression,
    opaque: Expression,
) -> Expression {
    if holds_all(to, from) { read } else { opaque }
}

/// Chooses how a converted operand is read, whose type is that of the operation.
#[must_use]
pub const fn widened(
    from: TypeKind,
    to: &'static TypeKind,
    read: &'static Expression,
    opaque: Expression,
) -> Expression {
    if holds_all(*to, from) {
        Expression::Widened(read, to)
    } else {
        opaque
    }
}

/// Returns whether every value of one integer type is a value of the other.
const fn holds_all(wide: TypeKind, narrow: TypeKind) -> bool {
    let TypeKind::Integer { low, high } = narrow else {
        return false;
    };
    let TypeKind::Integer {
        low: least,
        high: most,
    } = wide
    else {
        return false;
    };
    // The bounds of `u128` are cut off, and then look like those of another type.
    let is_u128 = low == 0 && high == i128::MAX;
    least <= low && high <= most && !(is_u128 && least != 0)
}

/// Returns the kind of a list's items, or of what an optional holds.
#[must_use]
pub const fn item(kind: TypeKind) -> TypeKind {
    match kind {
        TypeKind::List(inner) | TypeKind::Optional(inner) => *inner,
        _ => TypeKind::Opaque,
    }
}

/// Returns the kind of what `x.len()` counts.
#[must_use]
pub const fn count(kind: TypeKind) -> TypeKind {
    match kind {
        TypeKind::Text | TypeKind::List(_) => <usize as KnownKind>::KIND,
        _ => TypeKind::Opaque,
    }
}

/// Returns the more specific kind.
#[must_use]
pub const fn kind(whole: TypeKind, container: TypeKind) -> TypeKind {
    match whole {
        TypeKind::Opaque => container,
        known => known,
    }
}

/// A constant. Its value is read only if operators on its type mean what they mean in JSON.
#[derive(Debug)]
pub struct Known<'c, T: ?Sized>(&'c T, Unwritable);

/// What [`Known`] and `JsonProbe` dereference to: a value that cannot be written.
#[derive(Debug)]
pub struct Unwritable;

impl<'c, T: ?Sized> Known<'c, T> {
    /// Wraps a constant.
    pub const fn new(constant: &'c T) -> Self {
        Self(constant, Unwritable)
    }
}

impl<T: ?Sized + KnownKind + Serialize> Known<'_, T> {
    /// Returns the constant as JSON, if it can be written.
    #[must_use]
    pub fn json(&self) -> Option<Value> {
        serde_json::to_value(self.0).ok()
    }
}

impl<T: ?Sized> std::ops::Deref for Known<'_, T> {
    type Target = Unwritable;
    fn deref(&self) -> &Unwritable {
        &self.1
    }
}

impl Unwritable {
    #[must_use]
    #[allow(
        clippy::unused_self,
        reason = "it is called as the method it stands in for"
    )]
    pub const fn json(&self) -> Option<Value> {
        None
    }
}

/// Returns the pattern of a call, if the function that is called is the one whose patterns can be published.
#[must_use]
pub fn pattern<F: 'static>(_: &F, pattern: Option<Value>) -> Option<Value> {
    let ours = TypeId::of::<F>() == matches_pattern.type_id();
    pattern.filter(|_| ours)
}

macro_rules! integers {
    ($($name:ty)*) => {$(
        impl KnownKind for $name {
            #[allow(clippy::cast_possible_wrap, clippy::cast_lossless, reason = "no value of these is changed")]
            const KIND: TypeKind = TypeKind::Integer { low: <$name>::MIN as i128, high: <$name>::MAX as i128 };
        }
    )*};
}

integers! { u8 u16 u32 u64 usize i8 i16 i32 i64 i128 isize }

impl KnownKind for u128 {
    const KIND: TypeKind = TypeKind::Integer {
        low: 0,
        high: i128::MAX,
    };
}

macro_rules! formed {
    ($($name:ty => $kind:expr,)*) => {$(
        impl KnownKind for $name {
            const KIND: TypeKind = $kind;
        }
    )*};
}

formed! {
    bool => TypeKind::Bool,
    f32 => TypeKind::Float { single: true },
    f64 => TypeKind::Float { single: false },
    char => TypeKind::Character,
    str => TypeKind::Text,
    String => TypeKind::Text,
    Cow<'_, str> => TypeKind::Text,
}

macro_rules! wrappers {
    ($($name:ty)*) => {$(
        impl<T: ?Sized + KnownKind> KnownKind for $name {
            const KIND: TypeKind = T::KIND;
        }
    )*};
}

wrappers! { &T Box<T> Arc<T> }

macro_rules! holding {
    ($kind:ident: $([$($n:tt)*] $name:ty,)*) => {$(
        impl<T: KnownKind $($n)*> KnownKind for $name {
            const KIND: TypeKind = TypeKind::$kind(&T::KIND);
        }
    )*};
}

holding! { List:
    [] Vec<T>,
    [] VecDeque<T>,
    [] [T],
    [, const N: usize] [T; N],
    [+ Clone] Cow<'_, [T]>,
}

holding! { Optional: [] Option<T>, }

#[cfg(test)]
mod tests {
    use super::*;

    struct Own;
    type Alias = String;

    macro_rules! kind_of {
        ($ty:ty) => {
            kind(Shape::<$ty>::KIND, Container::<$ty>::KIND)
        };
    }

    const BYTE: TypeKind = TypeKind::Integer { low: 0, high: 255 };

    #[test]
    fn the_compiler_sees_through_names_references_and_boxes() {
        assert_eq!(kind_of!(Alias), TypeKind::Text);
        assert_eq!(kind_of!(&Box<Arc<str>>), TypeKind::Text);
        assert_eq!(kind_of!(Cow<'_, str>), TypeKind::Text);
        assert_eq!(kind_of!(&u8), BYTE);
        assert_eq!(
            kind_of!(Option<&f32>),
            TypeKind::Optional(&TypeKind::Float { single: true })
        );
        for list in [
            kind_of!([u8; 3]),
            kind_of!(&[u8]),
            kind_of!(Vec<u8>),
            kind_of!(VecDeque<u8>),
            kind_of!(Cow<'_, [u8]>),
        ] {
            assert_eq!(list, TypeKind::List(&BYTE));
        }
    }

    #[test]
    fn items_of_an_unknown_type_are_still_items() {
        for list in [
            kind_of!([Own; 3]),
            kind_of!(&[Own]),
            kind_of!(Vec<Own>),
            kind_of!(Box<[Own]>),
            kind_of!(&[Own; 2]),
        ] {
            assert_eq!(list, TypeKind::List(&TypeKind::Opaque));
        }
        assert_eq!(kind_of!(Option<Own>), TypeKind::Optional(&TypeKind::Opaque));
        assert_eq!(
            kind_of!(&Option<Own>),
            TypeKind::Optional(&TypeKind::Opaque)
        );
    }

    #[test]
    fn what_counts_or_compares_otherwise_is_unknown() {
        use std::collections::{BTreeMap, HashSet};
        let unknown = [
            kind_of!(Own),
            kind_of!(HashSet<u8>),
            kind_of!(BTreeMap<String, u8>),
            kind_of!(std::path::PathBuf),
            kind_of!(()),
        ];
        assert_eq!(unknown, [TypeKind::Opaque; 5]);
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
