//! The documents above a document in a tree.

use std::{fmt, hash, ops::Deref, slice, vec};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Contains, Document, Has, Joinable, List, Ref, Referable, RefersWithin};

/// The documents above a document in a tree, from the root down to the nearest: the array of ancestors of
/// [MongoDB's tree structures](https://www.mongodb.com/docs/manual/tutorial/model-tree-structures-with-ancestors-array/).
///
/// A field of this type is marked `#[ancestors(via = "parent")]`. It is derived: every write leaves it equal to the documents that are
/// found along the reference, also where a document far above is moved (with `refresh = "later"`, a worker does that after the write), and a value
/// given here is ignored. The reference is the truth; the
/// list only names documents, so that no delete rule looks at it.
///
/// The reference leads to a document of the same kind, or from a leaf of another kind into the tree. A copy of the list
/// (`#[denormalize(from = "Category.path")]`) is of this type, too. Each of these can be the `via` of a count, an existence, a sum, an extreme or a
/// subset of all that is below a document, and is found by [`within`](crate::model::Field::within).
///
/// A document has at most 200 ancestors. A write after which documents would be above themselves, or with too many ancestors, fails with
/// [`Uncomputable`](crate::ErrorKind::Uncomputable), and the message names them. In stored data such documents are findings of an audit.
///
/// It reads like a slice of references, and a document that lacks it, such as one from before the field was declared, reads as one without
/// ancestors.
///
/// ```
/// use odm::{Embedded, prelude::*};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Debug, Serialize, Deserialize, Document)]
/// #[document(collection = "categories")]
/// struct Category {
///     #[serde(rename = "_id")]
///     id: String,
///     #[reference(parent)]
///     parent: Option<Ref<Category>>,
///     #[ancestors(via = "parent")]
///     path: Ancestors<Category>,
/// }
///
/// #[derive(Debug, Serialize, Deserialize, Document)]
/// #[document(collection = "products")]
/// struct Product {
///     #[serde(rename = "_id")]
///     id: i64,
///     #[reference(parent)]
///     category: Ref<Category>,
///     #[ancestors(via = "category")]
///     categories: Ancestors<Category>,
/// }
///
/// #[derive(Database)]
/// #[database(name = "shop", version = 1)]
/// struct Shop {
///     categories: Repository<Category>,
///     products: Repository<Product>,
/// }
///
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// let shop = Shop::open(Embedded::memory().await?).await?;
/// let category = |id: &str, parent: Option<&str>| Category {
///     id: id.to_owned(),
///     parent: parent.map(|parent| Ref::new(parent.to_owned())),
///     path: Ancestors::new(),
/// };
/// shop.categories
///     .insert_many([category("home", None), category("lights", Some("home")), category("lamps", Some("lights"))])
///     .await?;
/// let lamp = Product { id: 1, category: Ref::new("lamps".to_owned()), categories: Ancestors::new() };
/// assert_eq!(shop.products.insert(lamp).await?.categories.depth(), 3);
///
/// // A move changes all lists below.
/// shop.categories.insert(category("garden", None)).await?;
/// shop.categories.update("lights").set(Category::fields().parent, Some(Ref::new("garden".to_owned()))).await?;
/// let outside = shop.products.find(Product::fields().categories.within("garden"));
/// assert_eq!(outside.one().await?.id, 1);
///
/// let up = shop.categories.update("lights").set(Category::fields().parent, Some(Ref::new("lamps".to_owned())));
/// assert!(up.await.unwrap_err().to_string().contains(r#"in a ring: "lamps" -> "lights" -> "lamps""#));
/// # Ok::<_, odm::Error>(()) }).unwrap();
/// ```
pub struct Ancestors<T: Referable>(Vec<Ref<T>>);

impl<T: Referable> Ancestors<T> {
    /// Creates an empty one, for a document that is not stored yet.
    ///
    /// ```
    /// # use odm::prelude::*; use serde::{Deserialize, Serialize};
    /// # #[derive(Serialize, Deserialize, Document)] #[document(collection = "topics")]
    /// # struct Topic { #[serde(rename = "_id")] id: i64 }
    /// // For a document of which all fields are given: what stands here is computed.
    /// let path: Ancestors<Topic> = Ancestors::new();
    /// assert!(path.is_empty());
    /// ```
    pub const fn new() -> Self {
        Ancestors(Vec::new())
    }

    /// Returns the number of the documents above: 0 at a root.
    ///
    /// ```
    /// # use odm::prelude::*; use serde::{Deserialize, Serialize};
    /// # #[derive(Serialize, Deserialize, Document)] #[document(collection = "topics")]
    /// # struct Topic { #[serde(rename = "_id")] id: i64 }
    /// let path: Ancestors<Topic> = Ancestors::new();
    /// assert_eq!(path.depth(), 0);
    /// ```
    pub fn depth(&self) -> usize {
        self.0.len()
    }
}

impl<T: Referable> Default for Ancestors<T> {
    fn default() -> Self {
        Ancestors::new()
    }
}

impl<T: Referable> Deref for Ancestors<T> {
    type Target = [Ref<T>];

    fn deref(&self) -> &[Ref<T>] {
        &self.0
    }
}

impl<T: Referable> IntoIterator for Ancestors<T> {
    type Item = Ref<T>;
    type IntoIter = vec::IntoIter<Ref<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, T: Referable> IntoIterator for &'a Ancestors<T> {
    type Item = &'a Ref<T>;
    type IntoIter = slice::Iter<'a, Ref<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T: Referable<Key: Clone>> Clone for Ancestors<T> {
    fn clone(&self) -> Self {
        Ancestors(self.0.clone())
    }
}

impl<T: Referable<Key: fmt::Debug>> fmt::Debug for Ancestors<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ancestors").field(&self.0).finish()
    }
}

impl<T: Referable<Key: PartialEq>> PartialEq for Ancestors<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T: Referable<Key: Eq>> Eq for Ancestors<T> {}

impl<T: Referable<Key: hash::Hash>> hash::Hash for Ancestors<T> {
    fn hash<H: hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl<T: Referable> List for Ancestors<T> {
    type Item = Ref<T>;
}

impl<T: Referable> Contains for Ancestors<T> {
    type Item = Ref<T>;
    const SUBSTRING: bool = false;
}

/// The type of a field that lists ancestors: `Ancestors<T>`, or an `Option` of it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no list of ancestors",
    label = "expected `Ancestors<T>`"
)]
pub trait AncestorsList {
    /// The documents of the tree.
    type Of: Document;
}

impl<T: Document> AncestorsList for Ancestors<T> {
    type Of = T;
}

impl<T: Document> AncestorsList for Option<Ancestors<T>> {
    type Of = T;
}

impl<T: Document> Joinable for Ancestors<T> {
    type Target = T;
    type Shape<X: Send> = Vec<X>;
    type With<X> = X;
    const PATH: &'static str = "";

    fn with<X>(value: X) -> X {
        value
    }

    fn collect<X: Send>(found: Vec<Option<X>>) -> Result<Vec<X>, usize> {
        <Vec<Ref<T>> as Joinable>::collect(found)
    }
}

impl<D: Has<T>, T: Document> RefersWithin<D> for Ancestors<T> {}

impl<T: Referable<Key: Serialize>> Serialize for Ancestors<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, T: Referable<Key: Deserialize<'de>>> Deserialize<'de> for Ancestors<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Through an `Option`, so that serde reads a missing field as an empty list.
        Option::deserialize(deserializer).map(|above| Ancestors(above.unwrap_or_default()))
    }
}
