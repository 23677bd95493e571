//! The derive macros of `odm`: `Document`, `Embed`, `Projection`, `Patch` and `Database`.
//!
//! Use them through `odm::prelude`. They are a pipeline, one module a stage:
//!
//! | stage | what it does |
//! |---|---|
//! | `ast` | the tokens as an input, with the stored name of each field, as serde gives it |
//! | `attr` | the grammar of the attributes, ours and serde's; spans are kept |
//! | `check` | the rules over several attributes; all errors are reported at once |
//! | `model` | the validated input |
//! | `expand` | one implementation each, its output shown above it |
//! | `fallback` | stub implementations beside errors, so that one mistake gives one error |
//!
//! A kind of derived field has all of its stages in `derived`, and so has `Patch`, which is not stored, in `patch`.
//!
//! What they emit is data and one-line calls of `odm::__private`. A rule that needs types, such as
//! that a reference is to a document, is emitted as an obligation at the user's tokens, and
//! worded where the trait is defined.

#![deny(missing_docs)]

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

mod ast;
mod attr;
mod check;
mod ctxt;
mod derived;
mod expand;
mod fallback;
#[cfg(test)]
mod fuzz;
mod model;
mod patch;
mod types;

use ast::Derive;

/// Defines the derives, which all claim the same attributes. So an attribute of one of them on the
/// item or field of another is read by that one, and gets an error that says where it belongs. So is
/// `#[id]`, which other libraries have, and which is answered with what to write here.
macro_rules! derives {
    (
        attributes($($attribute:ident),*);
        $($(#[$doc:meta])* $derive:ident => $function:ident;)*
    ) => {
        /// The attributes of this library, on items and on fields.
        const ATTRIBUTES: &[&str] = &[$(stringify!($attribute)),*];

        derives!(@each ($($attribute,)* id, serde) $($(#[$doc])* $derive => $function;)*);
    };
    (@each $attributes:tt $($(#[$doc:meta])* $derive:ident => $function:ident;)*) => { $(
        $(#[$doc])*
        #[proc_macro_derive($derive, attributes $attributes)]
        pub fn $function(input: TokenStream) -> TokenStream {
            expand::derive(Derive::$derive, &parse_macro_input!(input as DeriveInput)).into()
        }
    )* };
}

derives! {
    attributes(
        document, embed, opaque, reference, index, version, created_at, updated_at, validate, subset, split, denormalize,
        count, projection, patch, database
    );

    /// Makes a struct a document of a collection of its own.
    ///
    /// ```ignore
    /// #[derive(Serialize, Deserialize, Document)]
    /// #[document(collection = "reviews", index(fields = "author.name, -written"))]
    /// struct Review {
    ///     #[serde(rename = "_id")]
    ///     id: ObjectId,
    ///     #[reference(parent)]
    ///     product: Ref<Product>,
    ///     #[embed]
    ///     author: Author,
    ///     #[index]
    ///     written: DateTime,
    ///     #[version]
    ///     revision: i64,
    /// }
    /// ```
    ///
    /// On the struct, `#[document(..)]`:
    ///
    /// - `collection = ".."`, required: the name of the collection.
    /// - `index(fields = "a, -b.c", unique, case_insensitive, filter = path, name = "..")`, any number of times: an index over
    ///   several fields. The names are those of the Rust fields, as after `fields()`; a dot goes on into an
    ///   embedded value, also through options and lists; `-` means descending. `filter` names a function that
    ///   returns a `Filter` of the document: only documents that match are in the index.
    /// - `unique(fields = "..", case_insensitive, filter = path, name = "..")`, any number of times: an index that is unique.
    /// - `validation(level = "moderate", action = "warn", schema = path)`: how strictly writes are held
    ///   against the schema of the model. The levels are `strict` (the default: each document that a
    ///   write names), `moderate` (not one that was invalid before) and `off`; the actions are `error`
    ///   (the default: the write fails) and `warn` (it is stored, and a `tracing` event tells of it).
    ///   `schema` names a function that returns a `$jsonSchema` of yours as a `bson::Document`, to which
    ///   the documents must conform as well.
    /// - `new = "NewTask"`, or `new(name = "NewTask", derive(Debug))`: makes a struct of the fields that the caller
    ///   of an insert gives: without the derived ones, the version, and the times of writes.
    /// - `renamed(from = "..", to = "..")`, any number of times: the field that is stored as `to` had another
    ///   stored name in an older version. With dots, it is in an embedded value.
    /// - `expires(field = "..", after = "30d")`: documents are deleted by the library when the time of `after`, in
    ///   seconds, minutes, hours or days, has gone by since the date in the field; without `after`, at that date.
    /// - `crate = "path"`: the path of the library, if it is not `::odm`.
    ///
    /// On a field, of which each has one of these attributes at most, or one with an index and rules:
    ///
    /// - `#[embed]`: the value, or the value in its `Option`, `Box`, list or map, derives `Embed`.
    ///   `#[embed(recursive)]` is for types that embed each other in a cycle.
    /// - `#[opaque]`: a value that the library does not look into, of a type from another crate, or of
    ///   one that derives nothing of this library. A write of one with a `Ref` in it fails.
    /// - `#[reference(child)]`, `#[reference(parent)]`: a `Ref`, an `Option` or a `Vec` of them. With
    ///   `one`, a parent has at most one such child. With `unchecked`, the reference may dangle.
    ///   `on_delete = ".."` is the delete rule: `restrict` (the delete fails), `cascade` (the holder is
    ///   deleted too), `nullify` (an `Option` becomes empty), `pull` (the reference is taken out of a
    ///   list) or `keep` (it dangles). `inverse = "field"` names the inverse reference in the
    ///   referenced document: a change of one changes the other.
    /// - `#[index]`, `#[index(unique)]`, `#[index(name = "..")]`: an index of this field. `case_insensitive`, on a text: one that
    ///   ignores case, by Unicode's simple case folding. `filter = path`: one of the documents that match the `Filter` that this
    ///   function returns.
    /// - `#[subset(limit = 10, sort = "-field, other")]`: a `Subset` of the documents that reference
    ///   this one, derived. A negative limit shows the last ones. `via = "field"`, or `via = "link.field"`
    ///   into an embedded value, names the reference where there are several, `filter = path` a function that returns a `Filter` of the children
    ///   that count. With `refresh = "batched"`, changes of the children are followed by a worker, several at once, after their
    ///   writes have returned.
    /// - `#[denormalize(from = "Model.field")]`: a copy of a field of the document that a reference
    ///   beside it names, of the same type, derived. The source may be derived itself. A dot goes on
    ///   into an embedded value. `via = "field"` names the reference where there are several.
    ///   `via = "Model.field"`, or `via = "Model.links.id"` through an embedded link, follows references
    ///   to this document, and the copy is a `Vec` of the different values. With `freeze`, a copy of one
    ///   document keeps the value of the time when the reference was added. With `fan_out = "background"`, a change of the source
    ///   is followed by a worker after the write has returned; `caught_up` of the database waits for it.
    /// - `#[count(of = "Child")]`: the number of documents that reference this one, derived. `via`,
    ///   `filter` and `refresh` are as for a subset.
    /// - `#[split(collection = "..", key = "..")]`: a `Cold`, the cold part of the document in a
    ///   collection of its own, where `key` holds the `_id` of the document. With `optional`, a
    ///   document need not have one.
    /// - `#[id(auto)]` on the `_id`: the library makes it where the struct of a new document is inserted.
    ///   `#[id(sequence)]`: it is the next number of the collection, from 1 on, without gaps.
    /// - `#[version]`: an integer that counts the changes of the document.
    /// - `#[created_at]`, `#[updated_at]`: a `DateTime`, or an `Option` of one: the time of the insert, and of the
    ///   last change of base data. Every write sets them; values given by the caller are ignored.
    /// - `#[validate(..)]`: rules for the values. `min`, `max`, `exclusive_min`, `exclusive_max`,
    ///   `multiple_of` are for numbers, `min_length`, `max_length`, `pattern = ".."` for strings,
    ///   `one_of("a", "b")` for both, `min_items`, `max_items`, `unique_items` for lists. `with = path`
    ///   names a function `fn(&T) -> Result<(), impl Display>`. It runs on the thread of the store, on the
    ///   document as it will be stored, whatever has written it: it must be quick, and depend on nothing
    ///   else. A panic in it fails the write.
    ///
    /// Derived fields are read-only: a value given in an insert or a replace is ignored.
    ///
    /// Types are recognised by what they are, also behind an alias or a renamed import. A field without
    /// a mark is a scalar, or a container or tuple of scalars: so no reference is in a place where the
    /// library cannot find it.
    ///
    /// Exactly one field is stored as `_id`, usually by `#[serde(rename = "_id")]`. The attributes of
    /// serde are followed: a field has the stored name that serde gives it.
    Document => document;

    /// Makes a struct or an enum a value that is stored inside documents.
    ///
    /// ```ignore
    /// #[derive(Serialize, Deserialize, Embed)]
    /// struct PartLink {
    ///     #[reference(child)]
    ///     id: Ref<Part>,
    ///     #[denormalize(from = "Part.name")]
    ///     name: String,
    ///     quantity: i32,
    /// }
    /// ```
    ///
    /// Its fields can be marked `#[embed]`, `#[opaque]`, `#[reference(..)]`, `#[validate(..)]` and `#[denormalize(..)]`, as those of a
    /// document, but a reference has no inverse, and a copy follows one beside it. An enum has
    /// one field for each variant that holds something, named like the variant in snake case, and one
    /// for its tag if it has one; all four forms in which serde stores enums are known.
    ///
    /// A struct around one scalar, such as `struct TaskId(ObjectId)`, is that scalar: a field of it needs no mark, can be
    /// the `_id`, and has the order of the scalar.
    ///
    /// A struct with exactly one reference and no embedded values is a link, and can be joined like the
    /// reference itself. If there is nothing else in it but copies, it has `From<&Part>`, which fills it in;
    /// the fields that it copies must then be visible where it is.
    Embed => embed;

    /// Makes a struct a projection: some of the fields of a document, read without the others.
    ///
    /// ```ignore
    /// #[derive(Deserialize, Projection)]
    /// #[projection(of = "Review")]
    /// struct ReviewSummary {
    ///     author: Author,
    ///     written: DateTime,
    /// }
    /// ```
    ///
    /// Each field must be one of the document's, with the same name, type and stored name. It has no
    /// marks: the document has them.
    Projection => projection;

    /// Makes a struct of `Option`s a patch: the changes of a document that a request names, for
    /// `update(id).set_all(patch)`.
    ///
    /// ```ignore
    /// #[derive(Deserialize, Patch)]
    /// #[patch(of = "Task")]
    /// struct TaskPatch {
    ///     title: Option<String>,
    ///     #[serde(default, deserialize_with = "odm::present")]
    ///     due: Option<Option<DateTime>>,
    ///     #[patch(path = "price.value")]
    ///     price: Option<f64>,
    /// }
    /// ```
    ///
    /// Each field sets the field of the document that has its name, or that `#[patch(path = "..")]` names; a dot goes
    /// on into an embedded value. One without a value leaves it as it is. A field of the document that is an
    /// `Option` itself can be emptied by an `Option` of it, for which `odm::present` reads a `null` as
    /// `Some(None)`. `#[patch(skip)]` is for fields that are not the document's.
    Patch => patch;

    /// Makes a struct of repositories a database.
    ///
    /// ```ignore
    /// #[derive(Database)]
    /// #[database(name = "shop", version = 1)]
    /// struct Shop {
    ///     products: Repository<Product>,
    ///     parts: Repository<Part>,
    /// }
    /// ```
    ///
    /// `migrations = path` names a function that returns the steps from each version of the models to the
    /// next, as `Migrations`.
    ///
    /// A reference to a model without a repository here is an error, and so is a cycle of derived
    /// fields. `Clone` is implemented too.
    Database => database;
}
