//! The derive macros of `odm`: `Document`, `Embed`, `Projection`, `Patch` and `Database`.
//!
//! Use them through `odm::prelude`. They are a pipeline, one module a stage, which `pipeline` runs:
//!
//! | stage | what it does |
//! |---|---|
//! | `attr` | the grammar of the attributes, ours and serde's; spans are kept |
//! | `ast` | the tokens as an input: its attributes, and the stored name of each field, as serde gives it |
//! | `check` | the rules over several attributes; all errors are reported at once |
//! | `model` | the validated input |
//! | `expand` | one implementation each, its output shown above it |
//! | `fallback` | stub implementations beside errors, so that one mistake gives one error |
//!
//! A stage uses only earlier ones. A kind of derived field has all of its stages in `derived`, and so has `Patch`, which
//! is not stored, in `patch`.
//!
//! They emit data and one-line calls of `odm::derive`. A rule that needs types, such as
//! that a reference is to a document, is emitted as an obligation at the user's tokens, and
//! worded where the trait is defined.

#![deny(missing_docs)]

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

mod ast;
mod attr;
mod check;
mod ctxt;
mod derive;
mod derived;
mod expand;
mod fallback;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod golden;
mod model;
mod patch;
mod pipeline;
mod types;

use derive::Derive;

/// Defines the derives, which all claim the same attributes. So each derive reads an attribute of another derive on
/// its item or fields, and reports where it belongs. Each also claims `#[id]`, which other libraries have, and reports
/// the form of this one.
///
/// The page of a derive in the documentation lists its own attributes. For the pages of this crate, the derive is
/// declared with these alone. The pages of `odm` are made of this crate as it is compiled for a program: for them, a second
/// derive has these alone, and `odm` exports it under the name of the first one when it is documented.
macro_rules! derives {
    (
        attributes($($attribute:ident),*);
        $($(#[$doc:meta])* $derive:ident => $function:ident, $page:ident => $of_page:ident($($own:ident),*);)*
    ) => {
        /// The attributes of this library, on items and on fields.
        const ATTRIBUTES: &[&str] = &[$(stringify!($attribute)),*];

        derives!(
            @each ($($attribute,)* id, serde)
            $($(#[$doc])* $derive => $function, $page => $of_page($($own),*);)*
        );
    };
    (
        @each $attributes:tt
        $($(#[$doc:meta])* $derive:ident => $function:ident, $page:ident => $of_page:ident $own:tt;)*
    ) => { $(
        $(#[$doc])*
        #[cfg_attr(doc, proc_macro_derive($derive, attributes $own))]
        #[cfg_attr(not(doc), proc_macro_derive($derive, attributes $attributes))]
        pub fn $function(input: TokenStream) -> TokenStream {
            pipeline::run(Derive::$derive, &parse_macro_input!(input as DeriveInput)).into()
        }

        $(#[cfg_attr(not(doctest), $doc)])*
        #[cfg_attr(doc, doc(hidden))]
        #[proc_macro_derive($page, attributes $own)]
        pub fn $of_page(input: TokenStream) -> TokenStream {
            $function(input)
        }
    )* };
}

derives! {
    attributes(
        document, embed, opaque, reference, index, version, created_at, updated_at, validate, subset, split, denormalize,
        count, exists, max, min, sequence, sum, computed, ancestors, public, projection, patch, database, expires, renamed
    );

    /// Makes a struct a document of a collection of its own.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use serde::{Deserialize, Serialize};
    ///
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[document(collection = "products")]
    /// # struct Product { #[serde(rename = "_id")] id: i64, name: String }
    /// # #[derive(Serialize, Deserialize, Embed)]
    /// # struct Author { name: String }
    /// #[derive(Serialize, Deserialize, Document)]
    /// #[document(collection = "reviews", index(fields = "author.name, -written"))]
    /// struct Review {
    ///     #[serde(rename = "_id")]
    ///     id: ObjectId,
    ///     #[reference(parent)]
    ///     product: Ref<Product>,
    ///     #[denormalize(from = "Product.name")]
    ///     product_name: String,
    ///     #[embed]
    ///     author: Author,
    ///     #[validate(min = 1, max = 5)]
    ///     stars: i32,
    ///     #[index]
    ///     written: DateTime,
    ///     #[version]
    ///     revision: i64,
    /// }
    ///
    /// assert_eq!(Review::COLLECTION, "reviews");
    /// assert_eq!(Review::fields().author.name.path(), "author.name");
    /// ```
    ///
    /// Exactly one field is stored as `_id`, usually by `#[serde(rename = "_id")]`. The attributes of
    /// serde are followed: a field has the stored name that serde gives it.
    ///
    /// # On the struct: `#[document(..)]`
    ///
    /// | key | meaning |
    /// |---|---|
    /// | `collection = ".."` | required: the name of the collection |
    /// | `index(fields = "a, -b.c")` | any number of times: an index over several fields, by the names of the Rust fields, as after `fields()`; a dot goes on into an embedded value, also through options and lists; `-` means descending |
    /// | `unique(fields = "a, b")` | any number of times: an index that is unique |
    /// | `index(.., case_insensitive)` | also of `unique`: it ignores the case of texts |
    /// | `index(.., filter = path)` | also of `unique`: only documents that match are in it; `path` names a function that returns a `Filter` of the document |
    /// | `index(.., name = "..")` | also of `unique`: its name |
    /// | `validation(level = "..")` | which writes are held against the schema of the model: `strict` (the default: each document that a write names), `moderate` (not one that was invalid before), `off` |
    /// | `validation(action = "..")` | `error` (the default: the write fails) or `warn` (it is stored, and a `tracing` event tells of it) |
    /// | `validation(schema = path)` | a function that returns a `$jsonSchema` of yours as a `bson::Document`, to which the documents must conform as well |
    /// | `new = "NewTask"`, `new(name = "NewTask", derive(Debug))` | makes a struct of the fields that the caller of an insert gives: without the derived ones, the version, the times of writes, and an `_id` with `#[id(..)]` |
    /// | `renamed(from = "..", to = "..")` | any number of times: the field that is stored as `to` had another stored name in an older version; with dots, it is in an embedded value |
    /// | `expires(field = "..", after = "30d")` | documents are deleted by the library when the time of `after`, in seconds, minutes, hours or days, has gone by since the date in the field; without `after`, at that date |
    /// | `crate = "path"` | the path of the library, if it is not `::odm` |
    ///
    /// # On a field
    ///
    /// Each has one of these at most, or one with an index and rules:
    ///
    /// | attribute | meaning |
    /// |---|---|
    /// | `#[embed]` | the value, or the value in its `Option`, `Box`, list or map, derives `Embed`; `#[embed(recursive)]` is for types that embed each other in a cycle |
    /// | `#[opaque]` | a value that the library does not look into, of a type from another crate, or of one that derives nothing of this library; a write of one with a `Ref` in it fails |
    /// | `#[reference(child)]` | a `Ref`, an `Option` or a `Vec` of them: this document lists the documents that belong to it |
    /// | `#[reference(parent)]` | the same, of a document that belongs to the referenced one; with `one`, a parent has one such child at most |
    /// | `#[reference(.., on_delete = "..")]` | the delete rule: `restrict` (the delete of the referenced document fails), `cascade` (the holder is deleted too), `nullify` (an `Option` becomes empty), `pull` (the reference is taken out of a list), `keep` (it dangles) |
    /// | `#[reference(.., inverse = "field")]` | the inverse reference in the referenced document: a change of one changes the other |
    /// | `#[reference(.., unchecked)]` | the reference may dangle |
    /// | `#[index]`, `#[index(unique)]` | an index of this field, with `case_insensitive`, `filter = path` and `name = ".."` as above; of a list, an index of each of its elements, which are scalars: of embedded values it names a field, as `index(fields = "lines.product")` |
    /// | `#[subset(limit = 10, sort = "-field, other")]` | a `Subset` of the documents that reference this one; a negative limit shows the last ones |
    /// | `#[count(of = "Child")]` | the number of documents that reference this one |
    /// | `#[exists(of = "Child")]` | a `bool`: whether a document references this one; no number is stored |
    /// | `#[sum(of = "Child.field")]` | the exact sum of a number in these documents: an `i64` of integers, a `Decimal128` of integers or decimals; of floats, with `recompute`, an `f64`, for which all of them are added up after each change |
    /// | `#[min(of = "Child.field")]`, `#[max(of = "Child.field")]` | an `Option`: the least or the greatest value in these documents |
    /// | `#[sequence(within = "project")]` | the next number within the document that a reference of this one names, from 1 on, given at the insert and when the reference changes; no number is given twice, and a unique index holds it. Where the reference is an `Option`, the number is one |
    /// | `#[ancestors(via = "parent")]` | an `Ancestors<T>`: the list of the documents above this one in a tree. It begins with the root, and ends with the document that the reference names. `T` is this document, or another one with such a list of its own |
    /// | `#[computed(quantity * price)]` | the value of a Rust expression of the fields beside it: see [below](#computed-fields) |
    /// | `#[subset(.., via = "field")]` | also of the others: which reference, where there are several; `via = "link.field"` is in an embedded value |
    /// | `#[subset(.., filter = path)]` | also of the others: a function that returns a `Filter` of the children that count |
    /// | `#[subset(.., refresh = "later")]` | also of the others and of a copy: a worker refreshes the field after the writes have returned, once for several of them; `wait_for_refreshes` of the database waits for that |
    /// | `#[denormalize(from = "Model.field")]` | a copy of a field of the document that a reference beside it names, of the same type; the source may be derived itself, and a dot goes on into an embedded value |
    /// | `#[denormalize(.., via = "field")]` | which reference, where there are several; `via = "Model.field"`, or `via = "Model.links.id"` through an embedded link, follows references to this document, and the copy is a `Vec` of the different values |
    /// | `#[denormalize(.., freeze)]` | the copy of one document keeps the value of the time when the reference was added |
    /// | `#[split(collection = "..", key = "..")]` | a `Cold`, the cold part of the document in a collection of its own, where `key` holds the `_id` of the document; with `optional`, a document need not have one |
    /// | `#[id(auto)]` | on the `_id`: the library makes it where the struct of a new document is inserted |
    /// | `#[id(sequence)]` | on the `_id`: it is the next number of the collection, from 1 on, without gaps |
    /// | `#[version]` | an integer that counts the changes of the document |
    /// | `#[created_at]`, `#[updated_at]` | a `DateTime`, or an `Option` of one: the time of the insert, and of the last change of base data; values given by the caller are ignored |
    /// | `#[validate(min = 0)]` | numbers: `min`, `max`, `exclusive_min`, `exclusive_max`, `multiple_of`, `one_of(1, 2)` |
    /// | `#[validate(min_length = 1)]` | strings: `min_length`, `max_length`, `pattern = ".."`, `one_of("a", "b")` |
    /// | `#[validate(max_items = 9)]` | lists: `min_items`, `max_items`, `unique_items` |
    /// | `#[public(skip)]`, `#[public(rename = "id")]` | beside any other: in a `Public`, the form in which clients see the document, the field is not there, or has this name; filters and sorts from requests name it likewise |
    /// | `#[validate(with = path)]` | a function `fn(&T) -> Result<(), impl Display>`; it runs on the thread of the store, on the document as it will be stored, whatever has written it: it must be quick, and depend on nothing else; a panic in it fails the write |
    ///
    /// Derived fields, which have `subset`, `count`, `exists`, `sum`, `min`, `max`, `sequence`, `ancestors`, `computed` or `denormalize`, are
    /// read-only: a value given in an insert or a replace is ignored.
    ///
    /// # Computed fields
    ///
    /// The expression of `#[computed(..)]` is Rust, whose types the compiler checks, and has the meaning of Rust. It names the fields of its
    /// struct, derived ones too, as if they were variables, and consists of
    ///
    /// | | |
    /// |---|---|
    /// | fields | `price`, `address.city` through embedded values; `Status::Open` and literals to compare them with |
    /// | operators | `+ - * / %` and `-` of numbers of one type, `== != < <= > >=`, `&& \|\| !`, `as` between numbers, `if a { b } else { c }` |
    /// | numbers | `abs` `min` `max`, and of floats `round` `floor` `ceil` |
    /// | options | `Some(a)` `None` `unwrap_or` `is_some` `is_none` |
    /// | texts | `trim` `to_lowercase` `to_uppercase` `starts_with` `ends_with` `contains` `len` `is_empty` `chars().count()` `to_owned` `to_string` `format!("{first} {last}")` |
    /// | words | `fold_case(email)`, `words(&format!("{title} {author}"))`, the functions of this library |
    /// | lists | `len` `is_empty`, and after `iter()` `map` `filter` `filter_map` with a closure, and at the end `sum::<i64>` `min` `max` `count` `any` `all` |
    ///
    /// A write fails if it makes a value that cannot be computed, by an overflow or a division by zero.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Serialize, Deserialize, Embed)]
    /// struct Line {
    ///     quantity: i64,
    ///     cents: i64,
    ///     #[computed(quantity * cents)]
    ///     total: i64,
    /// }
    ///
    /// #[derive(Serialize, Deserialize, Document)]
    /// #[document(collection = "orders")]
    /// struct Order {
    ///     #[serde(rename = "_id")]
    ///     id: i64,
    ///     #[embed]
    ///     lines: Vec<Line>,
    ///     discount: Option<i64>,
    ///     #[computed(lines.iter().map(|line| line.total).sum::<i64>() - discount.unwrap_or(0))]
    ///     total: i64,
    /// }
    /// ```
    ///
    /// # A mistake
    ///
    /// Types are recognised also behind an alias or a renamed import. A field without
    /// a mark is a scalar, or a container or tuple of scalars: so no reference is in a place where the
    /// library cannot find it.
    ///
    /// ```compile_fail
    /// # use odm::prelude::*;
    /// # use serde::{Deserialize, Serialize};
    /// #
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[document(collection = "parts")]
    /// # struct Part {
    /// #     #[serde(rename = "_id")]
    /// #     id: i64,
    /// #     name: String,
    /// # }
    /// #
    /// #[derive(Serialize, Deserialize, Document)]
    /// #[document(collection = "products")]
    /// struct Product {
    ///     #[serde(rename = "_id")]
    ///     id: i64,
    ///     #[reference]
    ///     part: Ref<Part>,
    /// }
    /// ```
    ///
    /// ```text
    /// error: reference without a direction: write `#[reference(child)]` if this document lists what belongs to it, or `#[reference(parent)]` if it belongs to the referenced document
    /// ```
    Document => document, DocumentPage => document_page(
        document, embed, opaque, reference, index, version, created_at, updated_at, validate, subset, split, denormalize,
        count, exists, max, min, sum, computed, public, id, serde
    );

    /// Makes a struct or an enum a value that is stored inside documents.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use serde::{Deserialize, Serialize};
    ///
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[document(collection = "parts")]
    /// # struct Part { #[serde(rename = "_id")] id: i64, name: String }
    /// #[derive(Serialize, Deserialize, Embed)]
    /// struct PartLink {
    ///     #[reference(child)]
    ///     id: Ref<Part>,
    ///     #[denormalize(from = "Part.name")]
    ///     name: String,
    ///     #[validate(min = 1)]
    ///     quantity: i32,
    /// }
    ///
    /// #[derive(Serialize, Deserialize, Document)]
    /// #[document(collection = "products")]
    /// struct Product {
    ///     #[serde(rename = "_id")]
    ///     id: i64,
    ///     #[embed]
    ///     parts: Vec<PartLink>,
    /// }
    ///
    /// let bolts = Product::fields().parts.any(|link| link.name.eq("bolt") & link.quantity.gt(2));
    /// # assert!(format!("{bolts:?}").contains("$elemMatch"));
    /// ```
    ///
    /// # On a field
    ///
    /// | attribute | meaning |
    /// |---|---|
    /// | `#[embed]` | the value, or the value in its `Option`, `Box`, list or map, derives `Embed`; `#[embed(recursive)]` is for types that embed each other in a cycle |
    /// | `#[opaque]` | a value that the library does not look into, of a type from another crate, or of one that derives nothing of this library; a write of one with a `Ref` in it fails |
    /// | `#[reference(child)]`, `#[reference(parent)]` | a `Ref`, an `Option` or a `Vec` of them, with `one`, `unchecked` and `on_delete = ".."` as in a document; it has no inverse |
    /// | `#[denormalize(from = "Model.field")]` | a copy of a field of the document that a reference beside it names, with `via = "field"`, `freeze` and `refresh = "later"` as in a document |
    /// | `#[computed(..)]` | the value of an expression of the fields beside it, as in a document |
    /// | `#[validate(..)]` | rules for the value, as in a document |
    /// | `#[public(skip)]`, `#[public(rename = "..")]` | the name under which clients see the field, if any, as in a document |
    ///
    /// On the struct or enum, `#[embed(crate = "path")]` gives the path of the library, if it is not `::odm`.
    ///
    /// # Forms
    ///
    /// An enum has one field for each variant that holds something, named like the variant in snake case, and one
    /// for its tag if it has one; all four forms in which serde stores enums are known.
    ///
    /// A struct around one scalar, such as `struct TaskId(ObjectId)`, is that scalar: a field of it needs no mark, can be
    /// the `_id`, and has the order of the scalar.
    ///
    /// A struct with exactly one reference and no embedded values is a link, and can be joined like the
    /// reference itself. If there is nothing else in it but copies, it has `From<&Part>`, which fills it in;
    /// the fields that it copies must then be visible where it is. It has `From<Ref<Part>>` as well, for the references of a
    /// request, if the types of the copies have a `Default`, which the write replaces.
    ///
    /// # A mistake
    ///
    /// ```compile_fail
    /// # use odm::prelude::*;
    /// # use serde::{Deserialize, Serialize};
    /// #
    /// #[derive(Serialize, Deserialize, Embed)]
    /// struct Money {
    ///     #[version]
    ///     revision: i64,
    /// }
    /// ```
    ///
    /// ```text
    /// error: a version counts the changes of a whole document: put it on a field of the document
    /// ```
    Embed => embed, EmbedPage => embed_page(embed, opaque, reference, denormalize, computed, validate, public, serde);

    /// Makes a struct a projection: some of the fields of a document, read without the others.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Serialize, Deserialize, Document)]
    /// #[document(collection = "reviews")]
    /// struct Review {
    ///     #[serde(rename = "_id")]
    ///     id: i64,
    ///     author: String,
    ///     stars: i32,
    ///     text: String,
    /// }
    ///
    /// #[derive(Debug, Deserialize, Projection)]
    /// #[projection(of = "Review")]
    /// struct Summary {
    ///     author: String,
    ///     stars: i32,
    /// }
    /// # #[derive(Database)]
    /// # #[database(name = "shop", version = 1)]
    /// # struct Shop { reviews: Repository<Review> }
    ///
    /// // For a query, and for the children in a `Subset<Summary>`.
    /// async fn list(shop: &Shop) -> odm::Result<Vec<Summary>> {
    ///     shop.reviews.all().select::<Summary>().await
    /// }
    /// ```
    ///
    /// | attribute | meaning |
    /// |---|---|
    /// | `#[projection(of = "..")]` | required, on the struct: the document |
    /// | `#[projection(crate = "path")]` | on the struct: the path of the library, if it is not `::odm` |
    /// | `#[embed]` | may stand on a field that has it in the document |
    ///
    /// Each field must be one of the document's, with the same name, type and stored name. It has no other marks:
    /// the marks in the document are enough.
    ///
    /// # A mistake
    ///
    /// ```compile_fail
    /// # use odm::prelude::*;
    /// # use serde::{Deserialize, Serialize};
    /// #
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[document(collection = "reviews")]
    /// # struct Review {
    /// #     #[serde(rename = "_id")]
    /// #     id: i64,
    /// #     author: String,
    /// #     stars: i32,
    /// # }
    /// #
    /// #[derive(Deserialize, Projection)]
    /// #[projection(of = "Review")]
    /// struct Summary {
    ///     autor: String,
    ///     stars: i32,
    /// }
    /// ```
    ///
    /// ```text
    /// error[E0609]: no field `autor` on type `ReviewFields<Root<Review>>`
    /// help: a field with a similar name exists
    /// ```
    Projection => projection, ProjectionPage => projection_page(projection, embed, public, serde);

    /// Makes a struct of `Option`s a patch: the changes of a document that a request names, for
    /// `update(id).set_all(patch)`.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use serde::{Deserialize, Serialize};
    ///
    /// # #[derive(Serialize, Deserialize, Embed)]
    /// # struct Price { value: f64 }
    /// #[derive(Serialize, Deserialize, Document)]
    /// #[document(collection = "offers")]
    /// struct Offer {
    ///     #[serde(rename = "_id")]
    ///     id: i64,
    ///     title: String,
    ///     until: Option<DateTime>,
    ///     #[embed]
    ///     price: Price,
    /// }
    ///
    /// #[derive(Deserialize, Patch)]
    /// #[patch(of = "Offer")]
    /// struct OfferPatch {
    ///     title: Option<String>,
    ///     #[serde(default, deserialize_with = "odm::present")]
    ///     until: Option<Option<DateTime>>,
    ///     #[patch(path = "price.value")]
    ///     price: Option<f64>,
    /// }
    ///
    /// let patch = OfferPatch { title: None, until: Some(None), price: Some(9.5) };
    /// let update = Update::<Offer>::new().set_all(patch);
    /// # assert_eq!(format!("{update:?}"), r#"Update({ "$set": { "until": null, "price.value": 9.5 } })"#);
    /// ```
    ///
    /// | attribute | meaning |
    /// |---|---|
    /// | `#[patch(of = "..")]` | required, on the struct: the document |
    /// | `#[patch(crate = "path")]` | on the struct: the path of the library, if it is not `::odm` |
    /// | `#[patch(path = "..")]` | on a field: the path that it sets, by the names of the Rust fields; a dot goes on into an embedded value; without it, the field of the same name |
    /// | `#[patch(skip)]` | on a field: it is none of the document's |
    ///
    /// A field without a value leaves that of the document as it is. One of the document that is an
    /// `Option` itself can be emptied by an `Option` of it, for which `odm::present` reads a `null` as
    /// `Some(None)`.
    ///
    /// # A mistake
    ///
    /// ```compile_fail
    /// # use odm::prelude::*;
    /// # use serde::{Deserialize, Serialize};
    /// #
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[document(collection = "tasks")]
    /// # struct Task {
    /// #     #[serde(rename = "_id")]
    /// #     id: i64,
    /// #     title: String,
    /// #     #[version]
    /// #     revision: i64,
    /// # }
    /// #
    /// #[derive(Deserialize, Patch)]
    /// #[patch(of = "Task")]
    /// struct TaskPatch {
    ///     title: String,
    /// }
    /// ```
    ///
    /// ```text
    /// error: `title` is no `Option`: a patch leaves a field without a value as it is; write `Option<..>`, or `#[patch(skip)]` for a field that is not the document's
    /// ```
    Patch => patch, PatchPage => patch_page(patch, serde);

    /// Makes a struct of repositories a database. `Clone` is implemented too. `Debug` is not: derive it beside this one, as
    /// `open(..).await.unwrap_err()` asks for it.
    ///
    /// ```
    /// use odm::{Embedded, prelude::*};
    /// use serde::{Deserialize, Serialize};
    ///
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[document(collection = "parts")]
    /// # struct Part { #[serde(rename = "_id")] id: i64, name: String }
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[document(collection = "products")]
    /// # struct Product { #[serde(rename = "_id")] id: i64, #[reference(child)] parts: Vec<Ref<Part>> }
    /// #[derive(Debug, Database)]
    /// #[database(name = "shop", version = 1)]
    /// struct Shop {
    ///     products: Repository<Product>,
    ///     parts: Repository<Part>,
    /// }
    ///
    /// async fn open() -> odm::Result<Shop> {
    ///     Shop::open(Embedded::open("shop.odm").await?).await
    /// }
    /// assert_eq!((Shop::NAME, Shop::VERSION), ("shop", 1));
    /// ```
    ///
    /// On the struct, `#[database(..)]`:
    ///
    /// | key | meaning |
    /// |---|---|
    /// | `name = ".."` | required: its name in the catalog of the store |
    /// | `version = 1` | required: the version of the models, from 1 on |
    /// | `migrations = path` | a function that returns the steps from each version of the models to the next, as `Migrations` |
    /// | `crate = "path"` | the path of the library, if it is not `::odm` |
    ///
    /// # A mistake
    ///
    /// A reference to a model without a repository here is an error, and so is a cycle of derived
    /// fields.
    ///
    /// ```compile_fail
    /// # use odm::prelude::*;
    /// # use serde::{Deserialize, Serialize};
    /// #
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[document(collection = "parts")]
    /// # struct Part {
    /// #     #[serde(rename = "_id")]
    /// #     id: i64,
    /// #     name: String,
    /// # }
    /// #
    /// #[derive(Serialize, Deserialize, Document)]
    /// #[document(collection = "products")]
    /// struct Product {
    ///     #[serde(rename = "_id")]
    ///     id: i64,
    ///     #[reference(child)]
    ///     parts: Vec<Ref<Part>>,
    /// }
    ///
    /// #[derive(Database)]
    /// #[database(name = "shop", version = 1)]
    /// struct Shop {
    ///     products: Repository<Product>,
    /// }
    /// ```
    ///
    /// ```text
    /// error[E0277]: the database `Shop` has no repository for `Part`, which another of its models refers to
    /// ```
    Database => database, DatabasePage => database_page(database);
}
