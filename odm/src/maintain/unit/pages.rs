//! Searches of many documents, page by page, so that they need not be held all at once.

use std::vec;

use bson::RawBson;
use futures_core::future::BoxFuture;
use odm_mql::{Filter, Test};
use odm_store::{Find, Result};

use super::{Unit, id};

/// A search of documents in the order of their `_id`s. Between its pages the unit may flush and
/// forget, as long as it changes neither an `_id` nor, unless the pages are fixed, whether a later document matches.
pub(in crate::maintain) struct DocumentPages {
    find: Find,
    is_fixed: bool,
    next: Next,
}

enum Next {
    First,
    /// After the last document of the page before: an index has the documents in order.
    After(Vec<RawBson>),
    /// The rest by `_id`: a search after a position would find all of them again for each page.
    Ids(vec::IntoIter<RawBson>),
    End,
}

impl DocumentPages {
    pub(in crate::maintain) fn new(find: Find) -> Self {
        DocumentPages {
            find,
            is_fixed: false,
            next: Next::First,
        }
    }

    /// The documents that match now, whatever the unit changes between the pages.
    pub(in crate::maintain) fn fixed(find: Find) -> Self {
        DocumentPages {
            is_fixed: true,
            ..DocumentPages::new(find)
        }
    }

    /// The documents with these `_id`s.
    pub(in crate::maintain) fn of_ids(collection: &str, ids: Vec<RawBson>) -> Self {
        DocumentPages {
            next: Next::Ids(ids.into_iter()),
            ..DocumentPages::fixed(Find {
                collection: collection.to_owned(),
                ..Find::default()
            })
        }
    }

    pub(in crate::maintain) fn collection(&self) -> &str {
        &self.find.collection
    }

    /// Whether there may be another page.
    pub(in crate::maintain) fn has_more(&self) -> bool {
        !matches!(self.next, Next::End)
    }

    /// The number of documents after the pages so far, where it is known: always for fixed pages.
    pub(in crate::maintain) fn number_left(&self) -> usize {
        match &self.next {
            Next::Ids(ids) => ids.len(),
            _ => 0,
        }
    }

    /// Whether an index that finds the documents has them in the order of `_id`.
    fn is_in_order(&self) -> bool {
        !self.is_fixed && matches!(self.find.filter, Filter::Path(_, Test::Eq(_)))
    }
}

impl Unit<'_> {
    /// Returns the positions of the next documents; none at the end.
    pub(in crate::maintain) fn next_page<'f>(
        &'f mut self,
        pages: &'f mut DocumentPages,
    ) -> BoxFuture<'f, Result<Vec<usize>>> {
        Box::pin(async move {
            loop {
                let after = match std::mem::replace(&mut pages.next, Next::End) {
                    Next::End => return Ok(Vec::new()),
                    Next::First => None,
                    Next::After(after) => Some(after),
                    Next::Ids(mut ids) => {
                        let page: Vec<RawBson> = ids.by_ref().take(self.bounds.chunk).collect();
                        if ids.len() > 0 {
                            pages.next = Next::Ids(ids);
                        }
                        let found = self.load_existing(&pages.find.collection, &page).await?;
                        if found.is_empty() && pages.has_more() {
                            continue;
                        }
                        return Ok(found);
                    }
                };
                return self.page_after(pages, after).await;
            }
        })
    }

    async fn page_after(
        &mut self,
        pages: &mut DocumentPages,
        after: Option<Vec<RawBson>>,
    ) -> Result<Vec<usize>> {
        let page = Find {
            limit: Some(self.bounds.chunk as u64 + 1),
            after,
            ..pages.find.clone()
        };
        let mut found = self.search_images(&page).await?;
        if found.len() <= self.bounds.chunk {
            return Ok(found);
        }
        found.truncate(self.bounds.chunk);
        let last = found.last().copied();
        let last = last.and_then(|at| self.document(&page.collection, at));
        let after = last.map(|last| vec![RawBson::from(id(last))]);
        pages.next = if pages.is_in_order() {
            Next::After(after.unwrap_or_default())
        } else {
            let rest = Find {
                limit: None,
                after,
                ..page
            };
            Next::Ids(self.search_ids(rest).await?.into_iter())
        };
        Ok(found)
    }
}
