//! Application-level joins: one request for each join, however many rows there are.

mod referrers;

use std::borrow::Cow;

use async_trait::async_trait;
use bson::{RawBson, RawDocument};

pub use self::referrers::Referrers;
use odm_store::{Cost, Error, ErrorKind, ReaderExt, Result, show};

use super::rows::decode_in;
use crate::{
    catalog,
    model::{Derived, Document, Field, HotPath, Is, Joinable, Path, Plain, Unchecked},
    session::ReadView,
};

/// A join to documents of `M`: a reference in them, or their referrers.
///
/// A reference, or the opposite direction of one by [`referrers`](Field::referrers):
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let rows = shop.products.all().join(Product::fields().parts).join(Review::fields().product.referrers()).await?;
/// let (shelf, parts, reviews): &(Product, Vec<Part>, Vec<Review>) = &rows[0];
/// assert_eq!((parts.len(), reviews.len()), (2, 3));
/// # Ok(()) });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be joined to documents of `{M}`",
    label = "neither a reference in `{M}`, nor the referrers of `{M}`",
    note = "a field with references is joined as it is; `.referrers()` on one joins in the other direction"
)]
#[async_trait]
pub trait Join<M>: Send + Sync + 'static {
    /// The type that each document is joined with.
    type Out: Send;
    /// `T`. It is unknown for a type that is no join, so that the compiler does not check the rest of a query with it.
    #[doc(hidden)]
    type With<T>;
    #[doc(hidden)]
    fn with<T>(value: T) -> Self::With<T>;
    /// Returns the keys that are looked up for a document.
    #[doc(hidden)]
    fn keys(&self, document: &RawDocument) -> Vec<RawBson>;
    /// Looks up the keys of all rows, and returns the joined documents of each.
    #[doc(hidden)]
    async fn run(
        &self,
        view: &ReadView<'_>,
        rows: Vec<Vec<RawBson>>,
        cost: &mut Cost,
    ) -> Result<Vec<Self::Out>>;
}

/// A join to the documents that a value of type `V` references. The trait is a bound on the join: a bound on the value would be reported in
/// the compiler's words, as a bound of the method.
#[doc(hidden)]
pub trait JoinFrom<V> {
    /// The same as in [`Join`].
    type With<T>;
    fn with<T>(value: T) -> Self::With<T>;
}

impl<V: Joinable, J: Join<V::Target>> JoinFrom<V> for J {
    type With<T> = J::With<T>;

    fn with<T>(value: T) -> J::With<T> {
        J::with(value)
    }
}

/// The joins of a query, possibly none. They make a row of each document.
///
/// A function that is generic over queries, with joins or without:
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::repository::{Joins, Query};
///
/// async fn first<M: Document, J: Joins<M>>(query: Query<M, J>) -> odm::Result<Option<J::Row>>
/// where
///     M: 'static,
/// {
///     query.first().await
/// }
/// let row: Option<(Review, Product)> = first(shop.reviews.all().join(Review::fields().product)).await?;
/// assert_eq!(row.unwrap().1.name, "shelf");
/// # Ok(()) });
/// ```
#[async_trait]
pub trait Joins<M>: Send + Sync + 'static {
    /// The document, or a tuple of it and the joined documents.
    type Row: Send;
    #[doc(hidden)]
    type Keys: Send;
    #[doc(hidden)]
    fn keys(&self, document: &RawDocument) -> Self::Keys;
    #[doc(hidden)]
    async fn run(
        &self,
        view: &ReadView<'_>,
        rows: Vec<(M, Self::Keys)>,
        cost: &mut Cost,
    ) -> Result<Vec<Self::Row>>;
}

#[async_trait]
impl<M: Send + 'static> Joins<M> for () {
    type Row = M;
    type Keys = ();

    fn keys(&self, _: &RawDocument) {}

    async fn run(&self, _: &ReadView<'_>, rows: Vec<(M, ())>, _: &mut Cost) -> Result<Vec<M>> {
        Ok(rows.into_iter().map(|(row, ())| row).collect())
    }
}

macro_rules! joins {
    ($($join:ident $out:ident $index:tt $key:tt),*) => {
        #[async_trait]
        impl<M: Send + 'static, $($join: Join<M>),*> Joins<M> for ($($join,)*) {
            type Row = (M, $($join::Out),*);
            type Keys = ($($key!($join),)*);

            fn keys(&self, document: &RawDocument) -> Self::Keys {
                ($(self.$index.keys(document),)*)
            }

            async fn run(
                &self,
                view: &ReadView<'_>,
                rows: Vec<(M, Self::Keys)>,
                cost: &mut Cost,
            ) -> Result<Vec<Self::Row>> {
                let mut documents = Vec::with_capacity(rows.len());
                let mut keys: ($(Vec<$key!($join)>,)*) = Default::default();
                for (document, row) in rows {
                    documents.push(document);
                    $(keys.$index.push(row.$index);)*
                }
                $(let mut $out = self.$index.run(view, keys.$index, cost).await?.into_iter();)*
                let row = |document| Some((document, $($out.next()?),*));
                Ok(documents.into_iter().map_while(row).collect())
            }
        }
    };
}

macro_rules! keys_of_row {
    ($join:ident) => { Vec<RawBson> };
}

joins!(A a 0 keys_of_row);
joins!(A a 0 keys_of_row, B b 1 keys_of_row);
joins!(A a 0 keys_of_row, B b 1 keys_of_row, C c 2 keys_of_row);
joins!(A a 0 keys_of_row, B b 1 keys_of_row, C c 2 keys_of_row, D d 3 keys_of_row);
joins!(A a 0 keys_of_row, B b 1 keys_of_row, C c 2 keys_of_row, D d 3 keys_of_row, E e 4 keys_of_row);
joins!(A a 0 keys_of_row, B b 1 keys_of_row, C c 2 keys_of_row, D d 3 keys_of_row, E e 4 keys_of_row, F f 5 keys_of_row);
joins!(A a 0 keys_of_row, B b 1 keys_of_row, C c 2 keys_of_row, D d 3 keys_of_row, E e 4 keys_of_row, F f 5 keys_of_row, G g 6 keys_of_row);

/// The treatment of a dangling reference in a join: an error if the library prevents it, `None` if the model allows it.
pub trait Resolve: 'static {
    /// The joined documents of one field.
    type Out<V: Joinable, X: Send>: Send;
    #[doc(hidden)]
    fn resolve<V: Joinable, X: Send>(found: Vec<Option<X>>) -> Result<Self::Out<V, X>, usize>;
}

impl Resolve for Plain {
    type Out<V: Joinable, X: Send> = V::Shape<X>;

    fn resolve<V: Joinable, X: Send>(found: Vec<Option<X>>) -> Result<V::Shape<X>, usize> {
        V::collect(found)
    }
}

impl Resolve for Unchecked {
    type Out<V: Joinable, X: Send> = V::Shape<Option<X>>;

    fn resolve<V: Joinable, X: Send>(found: Vec<Option<X>>) -> Result<V::Shape<Option<X>>, usize> {
        V::collect(found.into_iter().map(Some).collect())
    }
}

impl Resolve for Derived {
    type Out<V: Joinable, X: Send> = V::Shape<X>;

    /// A list of ancestors can begin with a document that is gone, which is left out.
    fn resolve<V: Joinable, X: Send>(found: Vec<Option<X>>) -> Result<V::Shape<X>, usize> {
        V::collect(found.into_iter().filter(Option::is_some).collect())
    }
}

/// A join of a reference, with joins from the referenced documents.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// // Of each review its product, and the parts of that.
/// let product = Review::fields().product.join(Product::fields().parts);
/// let rows: Vec<(Review, (Product, Vec<Part>))> = shop.reviews.all().join(product).await?;
/// assert_eq!(rows[0].1.1.len(), 2);
/// # Ok(()) });
/// ```
#[must_use = "a join does nothing until a query uses it"]
#[derive(Debug)]
pub struct Follow<F, J> {
    field: F,
    joins: J,
}

impl<V, P: Path, K> Field<V, P, K> {
    /// Joins a reference of the joined documents.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let product = Review::fields().product.join(Product::fields().parts);
    /// let (review, (product, parts)) = shop.reviews.find(Review::fields().id.eq(4)).join(product).one().await?;
    /// assert_eq!((product.name.as_str(), parts[0].name.as_str()), ("lamp", "nut"));
    /// # Ok(()) });
    /// ```
    pub fn join<J: JoinFrom<V>>(self, join: J) -> Follow<J::With<Self>, (J::With<J>,)> {
        Follow {
            field: J::with(self),
            joins: (J::with(join),),
        }
    }
}

/// A join of a reference, with a join by `J`, and by `B` if `B` is a join.
type Two<V, P, K, J, B> =
    Follow<Field<V, P, K>, (J, <B as Join<<V as Joinable>::Target>>::With<B>)>;

impl<V: Joinable, P: Path, K, J: Send + Sync> Follow<Field<V, P, K>, (J,)> {
    /// Joins another reference of the joined documents.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // Of each review its product, with the parts and the warranty of that.
    /// let warranty = Warranty::fields().product.referrers();
    /// let product = Review::fields().product.join(Product::fields().parts).join(warranty);
    /// let (_, (product, parts, warranties)) = shop.reviews.all().join(product).first().await?.unwrap();
    /// assert_eq!((parts.len(), warranties.len()), (2, 1));
    /// # Ok(()) });
    /// ```
    pub fn join<B>(self, join: B) -> Two<V, P, K, J, B>
    where
        B: Join<V::Target>,
    {
        Follow {
            field: self.field,
            joins: (self.joins.0, B::with(join)),
        }
    }
}

impl<V, P: Path, K> Field<V, P, K> {
    /// Joins the reference as an `Option`, for the case that a value around it is missing.
    ///
    /// ```
    /// # use odm::{Embedded, prelude::*}; use serde::{Deserialize, Serialize};
    /// # #[derive(Debug, Serialize, Deserialize, Document)] #[document(collection = "makers")]
    /// # struct Maker { #[serde(rename = "_id")] id: i64, name: String }
    /// #[derive(Debug, Serialize, Deserialize, Embed)]
    /// struct Origin {
    ///     #[reference(child)]
    ///     maker: Ref<Maker>,
    ///     batch: String,
    /// }
    ///
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[document(collection = "tools")]
    /// struct Tool {
    ///     #[serde(rename = "_id")]
    ///     id: i64,
    ///     #[embed]
    ///     origin: Option<Origin>,
    /// }
    /// # #[derive(Database)] #[database(name = "shop", version = 1)]
    /// # struct Shop { makers: Repository<Maker>, tools: Repository<Tool> }
    /// # tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// # let shop = Shop::open(Embedded::memory().await?).await?;
    /// # shop.tools.insert(Tool { id: 1, origin: None }).await?;
    ///
    /// let rows = shop.tools.all().join(Tool::fields().origin.maker.optional()).await?;
    /// let (_, maker): &(Tool, Option<Maker>) = &rows[0];
    /// assert!(maker.is_none());
    /// # Ok::<_, odm::Error>(()) }).unwrap();
    /// ```
    pub fn optional(self) -> Follow<Field<Option<V>, P, K>, ()> {
        Follow {
            field: Field::NEW,
            joins: (),
        }
    }
}

/// The path of the references of a field.
pub(super) fn reference_path<V: Joinable, P: Path>() -> Cow<'static, str> {
    match (P::TEXT, V::PATH) {
        (path, "") => path.into(),
        (path, link) => format!("{path}.{link}").into(),
    }
}

fn references(path: &str, document: &RawDocument) -> Vec<RawBson> {
    let mut ids = Vec::new();
    catalog::references(document, path, |id| ids.push(id.into()));
    ids
}

#[async_trait]
impl<M, V: Joinable, P: HotPath<Root: Is<M>>, K: Resolve> Join<M> for Field<V, P, K> {
    type Out = K::Out<V, V::Target>;
    type With<T> = V::With<P::With<<P::Root as Is<M>>::With<T>>>;

    fn with<T>(value: T) -> Self::With<T> {
        V::with(P::with(<P::Root as Is<M>>::with(value)))
    }

    fn keys(&self, document: &RawDocument) -> Vec<RawBson> {
        references(&reference_path::<V, P>(), document)
    }

    async fn run(
        &self,
        view: &ReadView<'_>,
        rows: Vec<Vec<RawBson>>,
        cost: &mut Cost,
    ) -> Result<Vec<Self::Out>> {
        follow::<V, P, K, ()>(&(), view, rows, cost).await
    }
}

#[async_trait]
impl<M, V, P, K, J> Join<M> for Follow<Field<V, P, K>, J>
where
    V: Joinable,
    P: HotPath<Root: Is<M>>,
    K: Resolve,
    J: Joins<V::Target>,
{
    type Out = K::Out<V, J::Row>;
    type With<T> = V::With<P::With<<P::Root as Is<M>>::With<T>>>;

    fn with<T>(value: T) -> Self::With<T> {
        V::with(P::with(<P::Root as Is<M>>::with(value)))
    }

    fn keys(&self, document: &RawDocument) -> Vec<RawBson> {
        references(&reference_path::<V, P>(), document)
    }

    async fn run(
        &self,
        view: &ReadView<'_>,
        rows: Vec<Vec<RawBson>>,
        cost: &mut Cost,
    ) -> Result<Vec<Self::Out>> {
        follow::<V, P, K, J>(&self.joins, view, rows, cost).await
    }
}

async fn follow<V, P, K, J>(
    joins: &J,
    view: &ReadView<'_>,
    rows: Vec<Vec<RawBson>>,
    cost: &mut Cost,
) -> Result<Vec<K::Out<V, J::Row>>>
where
    V: Joinable,
    P: Path,
    K: Resolve,
    J: Joins<V::Target>,
{
    let collection = <V::Target as Document>::COLLECTION;
    let lengths: Vec<usize> = rows.iter().map(Vec::len).collect();
    let ids: Vec<RawBson> = rows.into_iter().flatten().collect();

    let mut found = Vec::new();
    if !ids.is_empty() {
        let read = |document: &RawDocument| {
            let value = decode_in::<V::Target>(view, collection, document)?;
            Ok((value, joins.keys(document)))
        };
        let (values, reading) = view.get_with(collection, &ids, read).await?;
        found = values;
        *cost += reading;
    }
    let exists: Vec<bool> = found.iter().map(Option::is_some).collect();
    let found = found.into_iter().flatten().collect();
    let mut joined = joins.run(view, found, cost).await?.into_iter();

    let mut start = 0;
    let mut out = Vec::with_capacity(lengths.len());
    for length in lengths {
        let row = start..start + length;
        let found = exists[row.clone()]
            .iter()
            .map(|&exists| if exists { joined.next() } else { None })
            .collect();
        out.push(K::resolve::<V, _>(found).map_err(|position| {
            dangling::<V, P>(ids.get(row.start + position).filter(|_| position < length))
        })?);
        start += length;
    }
    Ok(out)
}

fn dangling<V: Joinable, P: Path>(id: Option<&RawBson>) -> Error {
    let path = reference_path::<V, P>();
    let target = <V::Target as Document>::COLLECTION;
    let message = match id {
        Some(id) => format!(
            "dangling reference: `{path}` = {} not found in `{target}`",
            show(id)
        ),
        None => format!(
            "dangling reference: a document has no `{path}`, which references `{target}`: join it by \
             `.optional()`"
        ),
    };
    Error::new(ErrorKind::DanglingReference, message).at(target, Some(&path), id.cloned())
}
