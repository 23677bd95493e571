//! The sizes of a collection and its indexes, and how often these were used.

use bson::DateTime;

/// The sizes of a collection, from [`Store::collection_stats`](crate::Store::collection_stats).
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let parts = odm::Collections::of(&shop).collection("parts");
/// let stats = parts.stats().await?.expect("the collection is there");
/// println!("{} documents, {} bytes", stats.documents, stats.bytes);
/// # assert_eq!(stats.indexes[0].name, "_id_");
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectionStats {
    /// The number of its documents.
    pub documents: u64,
    /// The bytes of its documents, as BSON. A store MAY count the keys under which it has them, too.
    pub bytes: u64,
    /// The bytes of the pages or blocks that hold the documents, without the pages of the indexes. Documents that are not written there yet
    /// do not count.
    pub storage_bytes: u64,
    /// Its indexes in the order of their names, with that on `_id`, whose name is `_id_`, as the first one.
    pub indexes: Vec<IndexStats>,
}

/// The size of an index.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let parts = odm::Collections::of(&shop).collection("parts");
/// let stats = parts.stats().await?.expect("the collection is there");
/// let by_name = stats.indexes.iter().find(|index| index.name == "name_1").expect("the model declares it");
/// assert_eq!(by_name.entries, Some(stats.documents));
/// assert!(by_name.bytes > 0);
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexStats {
    /// Its name.
    pub name: String,
    /// The number of its entries, if the store counts them.
    pub entries: Option<u64>,
    /// The bytes that it takes: of its entries, or of the pages or blocks that hold them. 0 if the documents themselves are in its order.
    pub bytes: u64,
}

/// How often an index was used, from [`Store::index_uses`](crate::Store::index_uses).
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let parts = odm::Collections::of(&shop).collection("parts");
/// parts.find(odm::mql::Filter::parse(&odm::bson::doc! { "name": "nut" })?).one().await?;
/// for index in parts.index_uses().await?.expect("the collection is there") {
///     println!("{}: {} uses since {}", index.name, index.count, index.since);
///     # assert!(index.count > 0 || index.name != "name_1");
/// }
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexUses {
    /// The name of the index.
    pub name: String,
    /// How often it was read to find documents. Writes, which maintain it, do not count, nor does the check of a unique key.
    pub count: u64,
    /// When the count began: with the start of the store, or with the index.
    pub since: DateTime,
}
