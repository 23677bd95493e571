//! The paths of the references in a value, at any depth: the library refuses to write a reference that it does not know.

use std::{cell::Cell, fmt::Display};

use odm_store::{Error, ErrorKind};
use serde::{
    Serialize, Serializer,
    ser::{self, Impossible},
};

use super::Document;

thread_local! {
    /// Whether a reference began to be serialized, and the serializer has not been called yet.
    static REFERENCE: Cell<bool> = const { Cell::new(false) };
}

/// Notes that a reference is serialized by the next call of a serializer.
pub(super) fn note() {
    REFERENCE.set(true);
}

/// Returns the paths of the references in a value, as stored names. The elements of an array are at the
/// path of the array. A value that cannot be serialized has none.
pub(crate) fn references<V: Serialize + ?Sized>(value: &V) -> Vec<Vec<String>> {
    let mut paths = Paths::default();
    REFERENCE.set(false);
    // The write, which serializes the value too, reports the error.
    let _ = value.serialize(&mut paths);
    REFERENCE.set(false);
    paths.found
}

/// Checks that the references in values of `M` are where its catalog has an edge.
///
/// # Errors
///
/// `Encode` if one is within a value that the library does not look into.
pub(crate) fn check_references<M: Document>(found: Vec<Vec<String>>) -> Result<(), Error> {
    if !M::OUTLINE.holds_opaque() {
        return Ok(());
    }
    let Some(path) = found.iter().find(|path| !M::shape().has_reference(path)) else {
        return Ok(());
    };
    let path = path.join(".");
    let message = format!(
        "reference at `{path}` in `{}` is in a value that is `#[opaque]`, where it is neither checked \
         nor followed: derive `Embed` for the types around it, and mark it with `#[reference(..)]`",
        M::COLLECTION
    );
    Err(Error::new(ErrorKind::Encode, message).at(M::COLLECTION, Some(&path), None))
}

#[derive(Default)]
struct Paths {
    /// The path of the value that is serialized.
    path: Vec<String>,
    found: Vec<Vec<String>>,
}

impl Paths {
    /// Begins a value at the path.
    fn begin(&mut self) {
        if REFERENCE.replace(false) {
            self.found.push(self.path.clone());
        }
    }

    fn within<V: Serialize + ?Sized>(&mut self, name: &str, value: &V) -> Result<(), Stop> {
        self.path.push(name.to_owned());
        let result = value.serialize(&mut *self);
        self.path.pop();
        result
    }
}

/// The end of a value that cannot be serialized.
#[derive(Debug, thiserror::Error)]
#[error("cannot be serialized")]
struct Stop;

impl ser::Error for Stop {
    fn custom<T: Display>(_: T) -> Self {
        Stop
    }
}

macro_rules! scalars {
    ($($method:ident($type:ty))*) => { $(
        fn $method(self, _: $type) -> Result<(), Stop> {
            self.begin();
            Ok(())
        }
    )* };
}

impl<'a> Serializer for &'a mut Paths {
    type Ok = ();
    type Error = Stop;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Within<'a>;
    type SerializeMap = Entries<'a>;
    type SerializeStruct = Self;
    type SerializeStructVariant = Within<'a>;

    scalars! {
        serialize_bool(bool) serialize_i8(i8) serialize_i16(i16) serialize_i32(i32)
        serialize_i64(i64) serialize_i128(i128) serialize_u8(u8) serialize_u16(u16)
        serialize_u32(u32) serialize_u64(u64) serialize_u128(u128) serialize_f32(f32)
        serialize_f64(f64) serialize_char(char) serialize_str(&str) serialize_bytes(&[u8])
        serialize_unit_struct(&'static str)
    }

    fn serialize_none(self) -> Result<(), Stop> {
        self.begin();
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Stop> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Stop> {
        self.begin();
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<(), Stop> {
        self.begin();
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Stop> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Stop> {
        self.begin();
        self.within(variant, value)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, Stop> {
        self.begin();
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Stop> {
        self.begin();
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Stop> {
        self.begin();
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Within<'a>, Stop> {
        Ok(Within::new(self, variant))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Entries<'a>, Stop> {
        self.begin();
        Ok(Entries {
            paths: self,
            key: String::new(),
        })
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Stop> {
        self.begin();
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Within<'a>, Stop> {
        Ok(Within::new(self, variant))
    }

    // Like the serializer of documents.
    fn is_human_readable(&self) -> bool {
        false
    }
}

macro_rules! elements {
    ($($trait:ident $method:ident)*) => { $(
        impl ser::$trait for &mut Paths {
            type Ok = ();
            type Error = Stop;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Stop> {
                value.serialize(&mut **self)
            }

            fn end(self) -> Result<(), Stop> {
                Ok(())
            }
        }
    )* };
}
elements!(SerializeSeq serialize_element SerializeTuple serialize_element
    SerializeTupleStruct serialize_field);

impl ser::SerializeStruct for &mut Paths {
    type Ok = ();
    type Error = Stop;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Stop> {
        self.within(name, value)
    }

    fn end(self) -> Result<(), Stop> {
        Ok(())
    }
}

/// The content of a variant, at the path of its name.
struct Within<'a>(&'a mut Paths);

impl<'a> Within<'a> {
    fn new(paths: &'a mut Paths, variant: &str) -> Self {
        paths.begin();
        paths.path.push(variant.to_owned());
        Within(paths)
    }

    fn close(self) {
        self.0.path.pop();
    }
}

impl ser::SerializeTupleVariant for Within<'_> {
    type Ok = ();
    type Error = Stop;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Stop> {
        value.serialize(&mut *self.0)
    }

    fn end(self) -> Result<(), Stop> {
        self.close();
        Ok(())
    }
}

impl ser::SerializeStructVariant for Within<'_> {
    type Ok = ();
    type Error = Stop;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Stop> {
        self.0.within(name, value)
    }

    fn end(self) -> Result<(), Stop> {
        self.close();
        Ok(())
    }
}

/// The entries of a map, each at the path of its key.
struct Entries<'a> {
    paths: &'a mut Paths,
    key: String,
}

impl ser::SerializeMap for Entries<'_> {
    type Ok = ();
    type Error = Stop;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Stop> {
        self.key = key.serialize(KeySerializer)?;
        // A reference in a key counts as one at the path of the map.
        self.paths.begin();
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Stop> {
        self.paths.within(&self.key, value)
    }

    fn end(self) -> Result<(), Stop> {
        Ok(())
    }
}

/// The keys that a document can have.
struct KeySerializer;

macro_rules! no_keys {
    ($($method:ident($($type:ty),*) $(-> $ok:ty)?;)*) => { $(
        fn $method(self, $(_: $type),*) -> no_keys!(@ $($ok)?) {
            Err(Stop)
        }
    )* };
    (@ $ok:ty) => { Result<$ok, Stop> };
    (@) => { Result<String, Stop> };
}

impl Serializer for KeySerializer {
    type Ok = String;
    type Error = Stop;
    type SerializeSeq = Impossible<String, Stop>;
    type SerializeTuple = Impossible<String, Stop>;
    type SerializeTupleStruct = Impossible<String, Stop>;
    type SerializeTupleVariant = Impossible<String, Stop>;
    type SerializeMap = Impossible<String, Stop>;
    type SerializeStruct = Impossible<String, Stop>;
    type SerializeStructVariant = Impossible<String, Stop>;

    no_keys! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_f32(f32);
        serialize_f64(f64);
        serialize_char(char);
        serialize_bytes(&[u8]);
        serialize_none();
        serialize_unit();
        serialize_unit_struct(&'static str);
        serialize_seq(Option<usize>) -> Self::SerializeSeq;
        serialize_tuple(usize) -> Self::SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize)
            -> Self::SerializeTupleVariant;
        serialize_map(Option<usize>) -> Self::SerializeMap;
        serialize_struct(&'static str, usize) -> Self::SerializeStruct;
        serialize_struct_variant(&'static str, u32, &'static str, usize)
            -> Self::SerializeStructVariant;
    }

    fn serialize_str(self, key: &str) -> Result<String, Stop> {
        Ok(key.to_owned())
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<String, Stop> {
        Ok(variant.to_owned())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, key: &T) -> Result<String, Stop> {
        key.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        key: &T,
    ) -> Result<String, Stop> {
        key.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<String, Stop> {
        Err(Stop)
    }
}
