//! The members of a list or an object, one after another.

use serde::ser::{self, Serialize};

use super::{JSON_ALREADY, Place, Unwritable, Writer};

/// No key of a map waits for its value.
const NO_KEY: usize = usize::MAX;

pub(in crate::tool::encode) struct Members<'w> {
    writer: &'w mut Writer,
    count: usize,
    /// Where the key of a map begins in the text, until it has its value.
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
            key: NO_KEY,
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
        } else if !name.starts_with(JSON_ALREADY) {
            // An enum that is tagged inside would put its tag there.
            return Err(self.refused("a value that is JSON already cannot have a tag inside"));
        }
        match value.serialize(&mut *self.writer) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.outside(error, name)),
        }
    }

    #[cold]
    fn outside(&mut self, error: Unwritable, step: &str) -> Unwritable {
        self.writer.is_broken = true;
        let error = error.below(step);
        match self.variant {
            Some(variant) => error.below(variant),
            None => error,
        }
    }

    #[cold]
    fn refused(&mut self, why: &str) -> Unwritable {
        self.writer.is_broken = true;
        ser::Error::custom(why)
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

const WITHOUT_VALUE: &str = "a key of a map has no value";

impl ser::SerializeMap for Members<'_> {
    type Ok = ();
    type Error = Unwritable;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Unwritable> {
        if self.key != NO_KEY {
            return Err(self.refused(WITHOUT_VALUE));
        }
        self.next();
        self.key = self.writer.text.len();
        self.writer.place = Place::Key;
        if let Err(error) = key.serialize(&mut *self.writer) {
            self.writer.is_broken = true;
            return Err(error);
        }
        self.writer.place = Place::Below;
        Ok(())
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritable> {
        if self.key == NO_KEY {
            return Err(self.refused("a value of a map has no key"));
        }
        let end = self.writer.text.len();
        self.writer.text.push(':');
        match value.serialize(&mut *self.writer) {
            Ok(()) => {
                self.key = NO_KEY;
                Ok(())
            }
            Err(error) => {
                let key = self.key(end);
                Err(self.outside(error, &key))
            }
        }
    }

    #[inline]
    fn end(mut self) -> Result<(), Unwritable> {
        if self.key != NO_KEY {
            return Err(self.refused(WITHOUT_VALUE));
        }
        self.done();
        Ok(())
    }
}
