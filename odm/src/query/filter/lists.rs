//! Filters of lists.

use odm_mql::Test;
use serde::Serialize;

use super::{Filter, raw, raws};
use crate::model::{AncestorsList, Element, Field, IntoValue, List, Path, Ref, Text};

impl<V, P: Path, K> Field<V, P, K> {
    /// Matches the documents below a document in its tree, at any depth. An index on the list is used; a field `#[ancestors(..)]` has one.
    ///
    /// The documents right below are found by their reference, and by [`len`](Field::len) those at one depth.
    ///
    /// ```
    /// # use odm::{Embedded, prelude::*}; use serde::{Deserialize, Serialize};
    /// # #[derive(Serialize, Deserialize, Document)] #[document(collection = "topics")]
    /// # struct Topic {
    /// #     #[serde(rename = "_id")] id: i64,
    /// #     #[reference(parent)] parent: Option<Ref<Topic>>,
    /// #     #[ancestors(via = "parent")] path: Ancestors<Topic>,
    /// # }
    /// # #[derive(Database)] #[database(name = "help", version = 1)] struct Help { topics: Repository<Topic> }
    /// # tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// # let help = Help::open(Embedded::memory().await?).await?;
    /// # let topic = |id, parent: Option<i64>| Topic { id, parent: parent.map(Ref::new), path: Ancestors::new() };
    /// help.topics.insert_many([topic(1, None), topic(2, Some(1)), topic(3, Some(2)), topic(4, None)]).await?;
    /// let topics = Topic::fields();
    /// assert_eq!(help.topics.find(topics.path.within(1)).count().await?, 2);
    /// assert_eq!(help.topics.find(topics.parent.eq(1)).count().await?, 1);
    /// assert_eq!(help.topics.find(topics.path.len(0)).count().await?, 2);
    /// # Ok::<_, odm::Error>(()) }).unwrap();
    /// ```
    pub fn within<How>(self, document: impl IntoValue<Ref<V::Of>, How>) -> Filter<P::Root>
    where
        V: AncestorsList,
    {
        Filter::test(P::TEXT, raw(P::TEXT, document).map(Test::Eq))
    }
}

impl<V, P: Path, K> Field<V, P, K> {
    /// Matches if the array contains each of the values. Without values it matches nothing.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// assert_eq!(shop.parts.find(Part::fields().tags.all(["new", "steel"])).one().await?.name, "bolt");
    /// # Ok(()) });
    /// ```
    pub fn all<How, T: IntoValue<V::Item, How>>(
        self,
        values: impl IntoIterator<Item = T>,
    ) -> Filter<P::Root>
    where
        V: List<Item: Serialize>,
    {
        let tests = raws(P::TEXT, values).map(|values| values.into_iter().map(Test::Eq).collect());
        Filter::test(P::TEXT, tests.map(Test::All))
    }

    /// Matches if the array has all words of a search. `widg*` asks for a word that begins with "widg". The words of the search are folded,
    /// as those of a field of [`words`](crate::words) are. An index on the field is read for the longest whole word, or else for the longest
    /// beginning. A search without words matches every document.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// assert_eq!(shop.parts.find(Part::fields().tags.matches("Steel ne*")).one().await?.name, "bolt");
    /// # Ok(()) });
    /// ```
    pub fn matches(self, search: &str) -> Filter<P::Root>
    where
        V: List<Item: Text>,
    {
        match Test::words(search) {
            Ok(None) => Filter::all(),
            Ok(Some(test)) => Filter::test(P::TEXT, Ok(test)),
            Err(error) => Filter::test(P::TEXT, Err(error.into())),
        }
    }

    /// Matches if the array has this length.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// assert_eq!(shop.parts.find(Part::fields().tags.len(0)).one().await?.name, "washer");
    /// # Ok(()) });
    /// ```
    pub fn len(self, length: u32) -> Filter<P::Root>
    where
        V: List,
    {
        Filter::test(P::TEXT, Ok(Test::Size(length.into())))
    }

    /// Matches if one element of the array matches the whole filter: `$elemMatch`.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // The orders of several lamps: one line is of both, where two conditions could be of different lines.
    /// let lamps = Order::fields().lines.any(|line| line.product.eq(2) & line.quantity.gt(1));
    /// assert_eq!(shop.orders.find(lamps).one().await?.id, 2);
    /// # Ok(()) });
    /// ```
    pub fn any<T, F>(self, filter: F) -> Filter<P::Root>
    where
        V: List<Item = T>,
        T: Element,
        F: FnOnce(&'static T::Fields) -> Filter<T>,
    {
        let element = filter(T::fields());
        Filter::test(
            P::TEXT,
            element
                .filter
                .map(|filter| Test::ElemMatch(Box::new(filter))),
        )
    }
}
