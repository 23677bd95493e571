//! Sorts and filters from requests.
//!
//! A request names fields by their stored paths, and has no syntax but the one described at [`FromRequest`]: no text or value of it becomes
//! an operator of the store.

mod conditions;
mod fields;
mod value;

use std::marker::PhantomData;

use odm_mql::{self as mql, Direction};
use odm_store::{Error, Result};
use serde::Deserializer;

use self::{
    conditions::Conditions,
    fields::{Purpose, RequestFields, wrong},
};
use super::{Filter, Sort};
use crate::model::Document;

/// Sorts and filters of the documents of `Self` that come with a request, as its text or JSON.
///
/// Every `Document` implements it. A request names fields by their stored paths, `price.currency` for one in an embedded value, or by the
/// names under which clients see them in a [`Public`](crate::Public); a field that clients do not see there can be named only if
/// [`allow`](FromRequest::allow) lists its stored path. A request is checked against the types of the fields: an unknown name, an unknown
/// operator and a value of another type are `InvalidRequest` errors, which name the mistake, as for the answer 400 of a web service. A
/// value is read as its field's type reads it in JSON, and the filter is the same as by the typed methods:
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let json = serde_json::json!({ "price.value": { "gte": 10, "lt": 50 }, "name": ["shelf", "lamp"] });
/// let filter = Product::filter_from_json(&json)?;
/// // ?sort=-price.value,name
/// let sort = Product::sort_by("-price.value,name")?;
/// let found = shop.products.find(filter).sort(sort).await?;
/// assert_eq!((found[0].name.as_str(), found[1].name.as_str()), ("shelf", "lamp"));
///
/// // The same filter of a query string: ?price.value[gte]=10&price.value[lt]=50&name[in]=shelf,lamp
/// let pairs = [("price.value[gte]", "10"), ("price.value[lt]", "50"), ("name[in]", "shelf,lamp")];
/// assert_eq!(shop.products.find(Product::filter_from_query(pairs)?).count().await?, 2);
/// # Ok(()) });
/// ```
///
/// A request can name every field except fields of cold parts, and the entries of a map by their keys, as `names.en`. The fields of
/// embedded values in a list, as `assignees.id`, or in a map can be named in filters alone. A client that may sort or filter by a field can
/// find out its values. So a service with confidential fields, such as the hash of a password, lists the public ones by
/// [`allow`](FromRequest::allow).
///
/// The operators are these. A list matches by its elements, `ne` by all of them and each other condition by any: different elements can
/// fulfil several conditions on a list.
///
/// | in JSON | in a query string | meaning |
/// |---|---|---|
/// | `{ "f": 1 }`, `{ "f": { "eq": 1 } }` | `f=1`, `f[eq]=1` | equal |
/// | `{ "f": [1, 2] }`, `{ "f": { "in": [1, 2] } }` | `f[in]=1,2` | equal to one of these |
/// | `{ "f": { "ne": 1 } }` | `f[ne]=1` | not equal |
/// | `gt`, `gte`, `lt`, `lte` | `f[gte]=1` | compared by the order of the field's type |
/// | `{ "f": { "exists": true } }` | `f[exists]=true` | whether the field is stored |
/// | `{ "f": { "matches": "red widg*" } }` | `f[matches]=red+widg*` | of a list of [`words`](crate::words): all of these, and a beginning of one |
///
/// All of them must hold. `null` is a value of an `Option`; a query string cannot express it, nor a comma in a value of `in`.
pub trait FromRequest: Document {
    /// Restricts the fields that a request may name to the given paths. A path includes the fields embedded at it.
    ///
    /// ```
    /// # use odm::prelude::*; use serde::{Deserialize, Serialize};
    /// # #[derive(Serialize, Deserialize, Document)] #[document(collection = "users")]
    /// # struct User { #[serde(rename = "_id")] id: i64, name: String, password_hash: String }
    /// let user = User::fields();
    /// let allowed = User::allow([user.id.path(), user.name.path()]);
    /// let sort = allowed.sort_by("-name")?;
    /// let error = allowed.sort_by("password_hash").unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "request: `users` cannot be sorted by `password_hash`: use `_id`, `name`",
    /// );
    /// # Ok::<_, odm::Error>(())
    /// ```
    fn allow<'a>(paths: impl IntoIterator<Item = &'a str>) -> Allowed<Self> {
        let paths = paths.into_iter().map(str::to_owned).collect();
        Allowed::new(RequestFields::only(Self::COLLECTION, Self::shape(), paths))
    }

    /// Makes a sort of the names of fields, with commas between them, and a `-` before each descending one. No name is no sort.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let sort = Part::sort_by("-qty,name")?;
    /// assert_eq!(shop.parts.all().sort(sort).await?[0].name, "washer");
    /// assert!(Part::sort_by("tags").unwrap_err().is_invalid_request()); // a list has no order
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `InvalidRequest` if a name is unknown, belongs to a field without an order, or occurs twice.
    fn sort_by(names: &str) -> Result<Sort<Self>> {
        all::<Self>().sort_by(names)
    }

    /// Makes a filter of a JSON object, such as a `&serde_json::Value`. An empty object, and `null`, match every
    /// document.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let body = serde_json::json!({ "qty": { "lt": 100 }, "tags": "steel" });
    /// assert_eq!(shop.parts.find(Part::filter_from_json(&body)?).count().await?, 2);
    /// // Nothing of a request becomes an operator of the store.
    /// let attack = serde_json::json!({ "name": { "$gt": "" } });
    /// assert!(Part::filter_from_json(&attack).unwrap_err().is_invalid_request());
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `InvalidRequest` if it is no such object, if a name or an operator is unknown or occurs twice, if a value is not of its field's
    /// type, and if there are more than 1,000 values in a list.
    fn filter_from_json<'de>(json: impl Deserializer<'de>) -> Result<Filter<Self>> {
        all::<Self>().filter_from_json(json)
    }

    /// Makes a filter of the decoded pairs of a query string. It takes all of them as conditions: a service separates its other parameters
    /// first, as by `#[serde(flatten)] conditions: BTreeMap<String, String>` beside them.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // GET /parts?qty[gte]=90&tags=steel
    /// let pairs = [("qty[gte]", "90"), ("tags", "steel")];
    /// assert_eq!(shop.parts.find(Part::filter_from_query(pairs)?).one().await?.name, "bolt");
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `InvalidRequest`, as for [`filter_from_json`](FromRequest::filter_from_json).
    fn filter_from_query<K: AsRef<str>, V: AsRef<str>>(
        pairs: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Filter<Self>> {
        all::<Self>().filter_from_query(pairs)
    }
}

impl<M: Document> FromRequest for M {}

fn all<M: Document>() -> Allowed<M> {
    Allowed::new(RequestFields::all(M::COLLECTION, M::shape()))
}

/// The fields of `M` that a request may name, returned by [`allow`](FromRequest::allow).
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let asked = Part::allow(["name", "qty"]);
/// let filter = asked.filter_from_query([("qty[lt]", "10")])?;
/// assert_eq!(shop.parts.find(filter).sort(asked.sort_by("-name")?).await?.len(), 1);
/// assert!(asked.sort_by("price").unwrap_err().is_invalid_request());
/// # Ok(()) });
/// ```
pub struct Allowed<M> {
    fields: Result<RequestFields>,
    model: PhantomData<fn() -> M>,
}

impl<M> Allowed<M> {
    fn new(fields: Result<RequestFields>) -> Self {
        Allowed {
            fields,
            model: PhantomData,
        }
    }

    fn fields(&self) -> Result<&RequestFields> {
        self.fields.as_ref().map_err(Error::clone)
    }

    /// Makes a sort, as [`FromRequest::sort_by`] does.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // GET /parts?sort=-qty,name
    /// let sort = Part::allow(["name", "qty"]).sort_by("-qty,name")?;
    /// assert_eq!(shop.parts.all().sort(sort).await?[0].name, "washer");
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `InvalidRequest` as there, and `InvalidQuery` if a request cannot name the field at an allowed path.
    pub fn sort_by(&self, names: &str) -> Result<Sort<M>> {
        let fields = self.fields()?;
        let mut sort = mql::Sort::new();
        for name in names.split(',').filter(|_| !names.trim().is_empty()) {
            let (name, direction) = match name.trim().strip_prefix('-') {
                Some(name) => (name, Direction::Descending),
                None => (name.trim(), Direction::Ascending),
            };
            let (_, path) = fields.find(name, Purpose::Sort)?;
            if sort.keys().iter().any(|(other, _)| *other == path) {
                return Err(wrong(format_args!("`{name}` stands twice in the sort")));
            }
            sort = sort.by(path, direction);
        }
        Ok(Sort::from_mql(Ok(sort)))
    }

    /// Makes a filter of JSON, as [`FromRequest::filter_from_json`] does.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let body = serde_json::json!({ "qty": { "gte": 90 } });
    /// let filter = Part::allow(["name", "qty"]).filter_from_json(&body)?;
    /// assert_eq!(shop.parts.find(filter).count().await?, 2);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `InvalidRequest` as there, and `InvalidQuery` if a request cannot name the field at an allowed path.
    pub fn filter_from_json<'de>(&self, json: impl Deserializer<'de>) -> Result<Filter<M>> {
        let mut conditions = Conditions::new(self.fields()?);
        conditions.add_json(value::json(json)?)?;
        Ok(Filter::from_mql(Ok(conditions.filter)))
    }

    /// Makes a filter of the pairs of a query string, as [`FromRequest::filter_from_query`] does.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // GET /parts?tags[in]=new,brass
    /// let filter = Part::allow(["tags"]).filter_from_query([("tags[in]", "new,brass")])?;
    /// assert_eq!(shop.parts.find(filter).one().await?.name, "bolt");
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `InvalidRequest` as there, and `InvalidQuery` if a request cannot name the field at an allowed path.
    pub fn filter_from_query<K: AsRef<str>, V: AsRef<str>>(
        &self,
        pairs: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Filter<M>> {
        let mut conditions = Conditions::new(self.fields()?);
        for (name, value) in pairs {
            conditions.add_pair(name.as_ref(), value.as_ref())?;
        }
        Ok(Filter::from_mql(Ok(conditions.filter)))
    }
}

impl<M> Clone for Allowed<M> {
    fn clone(&self) -> Self {
        Allowed::new(self.fields.clone())
    }
}

impl<M> std::fmt::Debug for Allowed<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Allowed").field(&self.fields).finish()
    }
}
