//! The members of a list or an object, one after another.

use serde::ser::{self, Serialize};

use super::{Place, Unwritable, Writer};

pub(in crate::tool::encode) struct Members<'w> {
    writer: &'w mut Writer,
    /// How many there were; for a key of a map, the place in the text where it begins is kept beside it.
    count: usize,
    key: usize,
    /// What ends them; nothing, where the only member is JSON already.
    close: Option<char>,
    /// The variant of an enum around them, which is an object of its own.
    variant: Option<&'static str>,
}

impl<'w> Members<'w> {
    #[inline]
    pub(super) fn new(writer: &'w mut Writer, close: char, variant: Option<&'static str>) -> Self {
        Self {
            writer,
            count: 0,
            key: 0,
            close: Some(close),
            variant,
        }
    }

    pub(super) fn raw(writer: &'w mut Writer) -> Self {
        Self {
            close: None,
            ..Self::new(writer, ' ', None)
        }
    }

    /// Separates a member from the one before it.
    #[inline]
    fn next(&mut self) {
        if self.count > 0 {
            self.writer.text.push(',');
        }
        self.count += 1;
    }

    #[inline]
    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritable> {
        self.next();
        match value.serialize(&mut *self.writer) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.outside(error, &(self.count - 1).to_string())),
        }
    }

    #[inline]
    fn field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Unwritable> {
        if self.close.is_some() {
            self.writer.name(self.count == 0, name);
            self.count += 1;
        }
        match value.serialize(&mut *self.writer) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.outside(error, name)),
        }
    }

    #[cold]
    fn outside(&self, error: Unwritable, step: &str) -> Unwritable {
        let error = error.below(step);
        match self.variant {
            Some(variant) => error.below(variant),
            None => error,
        }
    }

    /// The key that was written last.
    #[cold]
    fn key(&self, end: usize) -> String {
        let written = self.writer.text.get(self.key..end);
        let read = written.map(serde_json::from_str);
        read.and_then(Result::ok).unwrap_or_default()
    }

    #[inline]
    fn done(self) {
        self.writer.place = Place::Below;
        if let Some(close) = self.close {
            self.writer.text.push(close);
        }
        if self.variant.is_some() {
            self.writer.text.push('}');
        }
    }
}

macro_rules! lists {
    ($($trait:ident $method:ident)*) => {$(
        impl ser::$trait for Members<'_> {
            type Ok = ();
            type Error = Unwritable;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritable> {
                self.item(value)
            }

            #[inline]
            fn end(self) -> Result<(), Unwritable> {
                self.done();
                Ok(())
            }
        }
    )*};
}

lists! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}

macro_rules! records {
    ($($trait:ident)*) => {$(
        impl ser::$trait for Members<'_> {
            type Ok = ();
            type Error = Unwritable;

            #[inline]
            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), Unwritable> {
                self.field(name, value)
            }

            #[inline]
            fn end(self) -> Result<(), Unwritable> {
                self.done();
                Ok(())
            }
        }
    )*};
}

records! { SerializeStruct SerializeStructVariant }

impl ser::SerializeMap for Members<'_> {
    type Ok = ();
    type Error = Unwritable;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Unwritable> {
        self.next();
        self.key = self.writer.text.len();
        self.writer.place = Place::Key;
        key.serialize(&mut *self.writer)?;
        self.writer.place = Place::Below;
        Ok(())
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritable> {
        let end = self.writer.text.len();
        self.writer.text.push(':');
        match value.serialize(&mut *self.writer) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.outside(error, &self.key(end))),
        }
    }

    #[inline]
    fn end(self) -> Result<(), Unwritable> {
        self.done();
        Ok(())
    }
}
