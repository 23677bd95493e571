//! What a collection takes, and how often its indexes were used.

use bson::DateTime;

/// What a collection takes, from [`Store::collection_stats`](crate::Store::collection_stats).
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let parts = odm::Collections::of(&shop).collection("parts");
/// let stats = parts.stats().await?.expect("the collection is there");
/// for index in stats.indexes.iter().filter(|index| index.uses == 0) {
///     println!("{} takes {} bytes, and nobody has used it since {}", index.name, index.bytes, index.since);
/// }
/// # assert_eq!(stats.indexes[0].name, "_id_");
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectionStats {
    /// The number of its documents.
    pub documents: u64,
    /// The bytes of its documents, as BSON. A store MAY count the keys under which it has them, too.
    pub bytes: u64,
    /// The bytes of the pages or blocks that hold the documents, without those of the indexes. Documents that are not written there yet do
    /// not count.
    pub storage_bytes: u64,
    /// Its indexes in the order of their names, with that on `_id`, whose name is `_id_`, as the first one.
    pub indexes: Vec<IndexStats>,
}

/// What an index takes, and how often it was used.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let parts = odm::Collections::of(&shop).collection("parts");
/// parts.find(odm::mql::Filter::parse(&odm::bson::doc! { "name": "nut" })?).one().await?;
/// let stats = parts.stats().await?.expect("the collection is there");
/// let by_name = stats.indexes.iter().find(|index| index.name == "name_1").expect("the model declares it");
/// assert_eq!(by_name.entries, Some(stats.documents));
/// assert!(by_name.uses > 0 && by_name.bytes > 0);
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
    /// How often it was read to find documents since then. Writes, which maintain it, do not count, nor does the check of a unique key.
    pub uses: u64,
    /// When the count began: with the start of the store, or with the index.
    pub since: DateTime,
}
