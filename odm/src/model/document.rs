//! The traits that the derives implement.

use std::fmt::Debug;

use bson::RawBson;
use odm_mql::{self as mql, Violation};
use odm_store::Result;
use serde::{Serialize, de::DeserializeOwned};

use super::{
    EmbedField, FieldSet, Model, ObjectId, Outline, Path, Ref, Referable, Root, SchemaTypes, Shape,
    ShownNames, StoredName, Through, ValueLocation, bare_model,
    derived::{Copied, Counter},
    id_to_raw, schema,
};

/// A type with named, stored fields: a document, an embedded value or a projection.
///
/// Implemented by their derives.
///
/// Each type with a derive has `fields()`:
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let part = Part::fields();
/// assert_eq!(shop.parts.find(part.qty.gt(10) & part.name.starts_with("b")).count().await?, 1);
/// # Ok(()) });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a document nor an embedded value",
    label = "it has no typed fields",
    note = "derive `Document`, `Embed` or `Projection` for it"
)]
pub trait Structure: Sized + 'static {
    #[doc(hidden)]
    const NAMES: &'static [StoredName];
    /// The names of flattened values, which are stored beside `NAMES`.
    #[doc(hidden)]
    const FLATTENED: &'static [&'static ShownNames] = &[];
    /// Whether it can be read from a document without any of its fields.
    #[doc(hidden)]
    const FROM_NOTHING: bool = false;
    /// Whether it cannot be read from a document with other fields.
    #[doc(hidden)]
    const CLOSED: bool = false;
    #[doc(hidden)]
    const SHOWN: &'static ShownNames = &ShownNames {
        own: Self::NAMES,
        flattened: Self::FLATTENED,
    };
    /// Its own copies, with their stored names and the hashes of these.
    #[doc(hidden)]
    const COPIES: &'static [(&'static str, u64, Copied)] = &[];
    #[doc(hidden)]
    const OUTLINE: &'static Outline = Outline::EMPTY;
    #[doc(hidden)]
    type Fields<P: Path>: FieldSet;

    /// Returns the typed fields, to make filters, updates and sorts of.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// assert_eq!(Line::fields().quantity.path(), "quantity");
    /// let many = shop.orders.find(Order::fields().lines.any(|line| line.quantity.gt(2)));
    /// assert_eq!(many.one().await?.id, 2);
    /// # Ok(()) });
    /// ```
    fn fields() -> &'static Self::Fields<Root<Self>> {
        FieldSet::fields()
    }

    #[doc(hidden)]
    fn shape() -> &'static Shape;

    /// The schema of the fields.
    #[doc(hidden)]
    fn schema(types: &mut SchemaTypes) -> bson::Document {
        schema::fields::<Self>(types, Self::shape(), Self::CLOSED)
    }

    /// Whether there are functions that check its fields.
    #[doc(hidden)]
    fn has_checks(_types: &mut SchemaTypes) -> bool {
        false
    }

    /// Runs the functions that check its fields.
    #[doc(hidden)]
    fn check(&self, _at: &ValueLocation<'_>, _found: &mut Vec<Violation>) {}
}

/// A document with a `#[version]`.
///
/// Implemented by the derive of a document that has one.
///
/// A function that is generic over documents with optimistic locking, as for a `PUT` with `If-Match`:
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::model::{IntoId, Versioned};
///
/// async fn touch<M: Versioned>(
///     documents: &Repository<M>,
///     id: impl IntoId<M>,
///     seen: M::Version,
///     changes: Update<M>,
/// ) -> odm::Result<()> {
///     documents.update(id).if_version(seen).with(changes).await
/// }
/// let lamp = shop.products.get(2).await?;
/// touch(&shop.products, 2, lamp.version, Update::new().set(Product::fields().name, "desk lamp")).await?;
/// # Ok(()) });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no `#[version]`",
    label = "no field of it counts its changes",
    note = "mark an integer field of `{Self}` with `#[version]`"
)]
pub trait Versioned: Document {
    /// The type of the version.
    type Version: Counter;
}

/// A struct that is stored as a document of a collection of its own.
///
/// Derive it: `#[derive(Serialize, Deserialize, Document)] #[document(collection = "parts")]`. One
/// field is stored as `_id`.
///
/// A function that is generic over documents:
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// async fn names<M: Document>(documents: &Repository<M>) -> odm::Result<Vec<String>>
/// where
///     M: 'static,
/// {
///     Ok(documents.all().await?.iter().map(|document| format!("{} {:?}", M::COLLECTION, document.id())).collect())
/// }
/// assert_eq!(names(&shop.parts).await?, ["parts 1", "parts 2", "parts 3"]);
/// # Ok(()) });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a document",
    label = "not a document",
    note = "derive `Document` for it; a value inside a document derives `Embed`"
)]
pub trait Document:
    Structure + Referable<Key = <Self as Document>::Id> + Serialize + DeserializeOwned + Send + Sync
{
    /// The type of `_id`.
    type Id: Serialize + DeserializeOwned + Clone + Debug + PartialEq + Send + Sync + 'static;
    /// The name of the Rust type.
    #[doc(hidden)]
    const NAME: &'static str;
    /// The name of the collection.
    const COLLECTION: &'static str;
    /// The inverse references: the name of the Rust field, and the name of its inverse. They are literals only, since two models query each
    /// other.
    #[doc(hidden)]
    const INVERSES: &'static [(&'static str, &'static str)] = &[];
    /// The document. The compiler does not check a bound on it for a type that is no document.
    #[doc(hidden)]
    type Itself;
    /// The hash of the collection's name.
    #[doc(hidden)]
    const HASH: u64;

    /// Returns the `_id`.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let bolt = shop.parts.get(1).await?;
    /// assert_eq!(*Document::id(&bolt), 1);
    /// # Ok(()) });
    /// ```
    fn id(&self) -> &Self::Id;

    /// Returns the schema of the documents, in the form of MongoDB's
    /// `$jsonSchema`: the types of the fields, and the rules of `#[validate(..)]`. Every write is validated by it; see
    /// [`ValidationLevel`](super::ValidationLevel).
    ///
    /// A field is required unless it is an `Option`, has a default for serde, is derived, or is a version. The narrower ranges of other
    /// crates' types (28 digits, whole days) are checked too, but not shown.
    ///
    /// ```
    /// # use odm::{bson::doc, prelude::*}; use serde::{Deserialize, Serialize};
    /// #[derive(Serialize, Deserialize, Document)]
    /// #[document(collection = "parts")]
    /// struct Part {
    ///     #[serde(rename = "_id")]
    ///     id: ObjectId,
    ///     #[validate(min_length = 1)]
    ///     name: String,
    /// }
    /// let schema = doc! {
    ///     "bsonType": "object",
    ///     "required": ["name"],
    ///     "properties": {
    ///         "_id": { "bsonType": "objectId" },
    ///         "name": { "bsonType": "string", "minLength": 1_i64 },
    ///     },
    /// };
    /// assert_eq!(Part::json_schema(), schema);
    /// ```
    fn json_schema() -> bson::Document {
        let mut schema = Self::schema(&mut SchemaTypes::default());
        mql::remove_native_forms(&mut schema);
        schema
    }

    /// The model, which by default declares nothing but its fields.
    #[doc(hidden)]
    fn model() -> &'static Model {
        const { &bare_model::<Self>() }
    }
}

/// A function from a number to an `_id`, or `None` if the number has none.
#[doc(hidden)]
pub(super) type TypedIdOfNumber<T> = fn(i64) -> Option<T>;

/// A function from a number to a stored `_id`, or `None` if the type of the `_id` cannot represent it.
#[doc(hidden)]
pub type IdOfNumber = fn(i64) -> Result<Option<RawBson>>;

/// The `_id` of a number, for a new document of the type `N`.
#[doc(hidden)]
pub fn stored_id_of_number<M: Document, N: Insertable<M>>(number: i64) -> Result<Option<RawBson>> {
    let id = N::id_of_number().and_then(|id_of_number| id_of_number(number));
    id.map(|id| id_to_raw::<M>(&id)).transpose()
}

/// A value that is inserted as a document of `M`: an `M` itself, or the struct of a new one, which
/// `#[document(new = "..")]` makes.
///
/// A function that stores a whole document or the struct of a new one:
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::model::Insertable;
///
/// async fn store<M: Document>(documents: &Repository<M>, document: impl Insertable<M>) -> odm::Result<M> {
///     documents.insert(document).await
/// }
/// # let placed = DateTime::now();
/// let order = NewOrder { customer: "ann".into(), lines: vec![], total: 0.0, placed, shipped: None };
/// assert_eq!(store(&shop.orders, order).await?.id, 4);
/// # Ok(()) });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be inserted as a `{M}`",
    label = "neither a `{M}` nor the struct of a new one"
)]
pub trait Insertable<M: Document>: Serialize {
    /// Whether the value is a whole document.
    #[doc(hidden)]
    const IS_WHOLE: bool = false;

    /// The `_id`, if it is known, for messages.
    #[doc(hidden)]
    fn id(&self) -> Option<&M::Id> {
        None
    }

    /// Makes the `_id` of a value without one.
    #[doc(hidden)]
    fn make_id() -> Option<M::Id> {
        None
    }

    /// Returns the function that makes the `_id` of a value without one from the next number of a sequence.
    #[doc(hidden)]
    fn id_of_number() -> Option<TypedIdOfNumber<M::Id>> {
        None
    }
}

impl<M: Document> Insertable<M> for M {
    const IS_WHOLE: bool = true;

    fn id(&self) -> Option<&M::Id> {
        Some(Document::id(self))
    }
}

/// An `_id` that the library can make: `#[id(auto)]`.
///
/// ```
/// use odm::{ObjectId, model::AutoId};
///
/// let id = ObjectId::make();
/// assert_ne!(id, ObjectId::make());
/// ```
#[diagnostic::on_unimplemented(
    message = "an `_id` of type `{Self}` is not made automatically",
    label = "not an `ObjectId`",
    note = "remove `#[id(auto)]`, and give a new document its `_id`"
)]
pub trait AutoId {
    /// Returns an `_id` that no other call returns, in any process.
    ///
    /// ```
    /// use odm::{ObjectId, model::AutoId};
    ///
    /// // What an insert of a `New..` does for a field with `#[id(auto)]`.
    /// let id: ObjectId = AutoId::make();
    /// # assert_eq!(id.to_string().len(), 24);
    /// ```
    fn make() -> Self;
}

impl AutoId for ObjectId {
    fn make() -> Self {
        ObjectId::new()
    }
}

impl AutoId for bson::oid::ObjectId {
    fn make() -> Self {
        bson::oid::ObjectId::new()
    }
}

impl AutoId for bson::Uuid {
    fn make() -> Self {
        bson::Uuid::new()
    }
}

/// An `_id` that is a number of a sequence: `#[id(sequence)]`. A program can implement it for a type of its own, which must be stored as a
/// number: otherwise the sequence does not know the numbers that callers have given.
///
/// ```
/// use odm::model::SequenceId;
///
/// assert_eq!(i16::from_number(40_000), None); // the sequence is at its end
/// assert_eq!(i64::from_number(40_000), Some(40_000));
/// ```
#[diagnostic::on_unimplemented(
    message = "an `_id` of type `{Self}` is not the number of a sequence",
    label = "not an integer",
    note = "implement `odm::model::SequenceId` for a type of your own, or use an integer"
)]
pub trait SequenceId: Sized {
    /// Returns the `_id` for a number, which is 1 or more, or `None` if the number is too large for the type.
    ///
    /// ```
    /// use odm::model::SequenceId;
    ///
    /// #[derive(Debug, PartialEq)]
    /// struct Invoice(i64);
    ///
    /// impl SequenceId for Invoice {
    ///     fn from_number(number: i64) -> Option<Self> {
    ///         Some(Invoice(number))
    ///     }
    /// }
    /// assert_eq!(Invoice::from_number(7), Some(Invoice(7)));
    /// ```
    fn from_number(number: i64) -> Option<Self>;
}

macro_rules! impl_sequence_id {
    ($($integer:ty),*) => { $(
        impl SequenceId for $integer {
            fn from_number(number: i64) -> Option<Self> {
                number.try_into().ok()
            }
        }
    )* };
}

impl_sequence_id!(i64, u64, i32, u32, i16, u16);

/// A struct or enum that is stored inside documents.
///
/// Derive it: `#[derive(Serialize, Deserialize, Embed)]`, and mark the fields that hold it with
/// `#[embed]`. A struct around one scalar, such as `struct TaskId(ObjectId)`, derives `Embed` too, and is a scalar then,
/// not an `Embed`: its fields need no mark.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let line = Line { product: Ref::new(2), quantity: 4 };
/// shop.orders.update(1).push(Order::fields().lines, line).await?;
/// let many = shop.orders.find(Order::fields().lines.any(|line| line.quantity.gt(3)));
/// assert_eq!(many.one().await?.id, 1);
/// # Ok(()) });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an embedded value",
    label = "cannot be embedded",
    note = "derive `Embed` for it"
)]
pub trait Embed: Structure + Through<To = Self> + EmbedField<Value = Self> {}

/// An element of a list whose fields can be named: an embedded value.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no fields that a filter of elements can name",
    label = "the elements are no embedded values",
    note = "an element as a whole is found by `.contains(..)` and removed by `.pull(..)`; for a struct of \
            yours, derive `Embed`"
)]
pub trait Element {
    /// Its typed fields.
    type Fields: 'static;
    /// The fields, from the top of an element.
    fn fields() -> &'static Self::Fields;
}

#[diagnostic::do_not_recommend]
impl<T: Embed> Element for T {
    type Fields = <T as Structure>::Fields<Root<T>>;

    fn fields() -> &'static Self::Fields {
        <T as Structure>::fields()
    }
}

/// Some of the fields of a document, read without the others.
///
/// Derive it: `#[derive(Deserialize, Projection)] #[projection(of = "Review")]`. Its fields are
/// checked against the document at compile time.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// #[derive(serde::Deserialize, Projection)]
/// #[projection(of = "Order")]
/// struct OrderLine {
///     customer: String,
///     total: f64,
/// }
/// let list: Vec<OrderLine> = shop.orders.all().select::<OrderLine>().await?;
/// assert_eq!((list[0].customer.as_str(), list[0].total), ("kate", 117.5));
/// # Ok(()) });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a projection",
    label = "not a projection",
    note = "derive `Projection` for it, with `#[projection(of = \"..\")]`"
)]
pub trait Projection: Structure + DeserializeOwned + Send {
    /// The document.
    type Of: Document;
}

/// A value that identifies one document of `M`: its `_id`, a reference to it, or the document itself.
///
/// An `_id`, a reference or the document itself identifies a document:
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let review = shop.reviews.get(4).await?;
/// let lamp = shop.products.get(review.product).await?; // a reference
/// assert_eq!(shop.products.get(2).await?, lamp); // an `_id`
/// shop.products.update(&lamp).set(Product::fields().name, "desk lamp").await?; // the document
/// # Ok(()) });
/// ```
#[diagnostic::on_unimplemented(
    message = "a value of type `{Self}` does not name one `{M}`",
    label = "expected the `_id` of a `{M}`, a `Ref<{M}>` or a `&{M}`"
)]
pub trait IntoId<M: Referable> {
    /// The way in which it is converted to a reference.
    #[doc(hidden)]
    type How;
    /// Returns the `_id`.
    fn into_id(self) -> M::Key;
}

impl<M: Document> IntoId<M> for &M {
    type How = super::ById;

    fn into_id(self) -> M::Id {
        self.id().clone()
    }
}

impl<M: Document> IntoId<M> for Ref<M> {
    type How = super::Same;

    fn into_id(self) -> M::Id {
        self.into_inner()
    }
}

impl<M: Document> IntoId<M> for &Ref<M> {
    type How = super::ById;

    fn into_id(self) -> M::Id {
        self.id().clone()
    }
}

/// An `_id` that a string literal can stand for.
#[doc(hidden)]
pub trait TextId {
    /// The `_id`.
    fn from_text(text: &str) -> Self;
}

macro_rules! text_ids {
    ($($id:ty)*) => { $(
        impl TextId for $id {
            fn from_text(text: &str) -> Self {
                text.into()
            }
        }
    )* };
}
text_ids!(String Box<str> std::sync::Arc<str>);

#[diagnostic::do_not_recommend]
impl<M: Document<Id: TextId>> IntoId<M> for &str {
    type How = super::ById;

    fn into_id(self) -> M::Id {
        TextId::from_text(self)
    }
}
