//! The joins of a query.

use std::marker::PhantomData;

use super::Query;
use crate::{model::Document, repository::Join};

impl<M: Document> Query<M> {
    /// Joins a reference of each document, and returns pairs. All references of all documents are read
    /// by one request.
    ///
    /// `Product::fields().parts` joins the referenced documents, and
    /// `Review::fields().product_id.referrers()` joins in the other direction. `.join(..)` on either
    /// joins from the joined documents.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let rows: Vec<(Product, Vec<Part>)> = shop.products.all().join(Product::fields().parts).await?;
    /// assert_eq!(rows[0].1[0].name, "bolt");
    ///
    /// // In the other direction: the newest reviews of each product.
    /// let newest = Review::fields().product.referrers().sort(Review::fields().published.desc()).limit(5);
    /// let rows: Vec<(Product, Vec<Review>)> = shop.products.all().join(newest).await?;
    /// assert_eq!(rows[0].1.len(), 3);
    /// # Ok(()) });
    /// ```
    pub fn join<A: Join<M>>(self, join: A) -> Query<M, (A::With<A>,)> {
        Query {
            session: self.session,
            search: self.search,
            load: self.load,
            joins: (A::with(join),),
            types: PhantomData,
        }
    }
}

/// The joins after the first one.
macro_rules! joins_after {
    ($($held:ident $at:tt),+ => $next:ident) => {
        impl<M: Document, $($held: Join<M>),+> Query<M, ($($held,)+)> {
            /// Joins another reference, and returns rows with one more element.
            ///
            /// ```
            /// # use odm::derive::examples::*; example(async |shop| {
            /// let reviews = Review::fields().product.referrers();
            /// let rows: Vec<(Product, Vec<Part>, Vec<Review>)> =
            ///     shop.products.all().join(Product::fields().parts).join(reviews).await?;
            /// assert_eq!((rows[0].1.len(), rows[0].2.len()), (2, 3));
            /// # Ok(()) });
            /// ```
            pub fn join<$next: Join<M>>(
                self,
                join: $next,
            ) -> Query<M, ($($held,)+ $next::With<$next>,)> {
                Query {
                    session: self.session,
                    search: self.search,
                    load: self.load,
                    joins: ($(self.joins.$at,)+ $next::with(join),),
                    types: PhantomData,
                }
            }
        }
    };
}
joins_after!(A 0 => Next);
joins_after!(A 0, B 1 => Next);
joins_after!(A 0, B 1, C 2 => Next);
joins_after!(A 0, B 1, C 2, D 3 => Next);
joins_after!(A 0, B 1, C 2, D 3, E 4 => Next);
joins_after!(A 0, B 1, C 2, D 3, E 4, F 5 => Next);

impl<M, A, B, C, D, E, F, G> Query<M, (A, B, C, D, E, F, G)>
where
    M: Document,
    A: Join<M>,
    B: Join<M>,
    C: Join<M>,
    D: Join<M>,
    E: Join<M>,
    F: Join<M>,
    G: Join<M>,
{
    /// A query joins seven references at most.
    #[doc(hidden)]
    pub fn join<H: EighthJoin>(self, join: H) -> H::Never {
        join.never()
    }
}

/// Never implemented.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a query joins seven references at most",
    label = "the eighth join",
    note = "a join has joins of its own, as `.join(fields.a.join(..))`; `fetch` the documents of the others"
)]
pub trait EighthJoin {
    /// No query.
    type Never;
    /// Never called.
    fn never(self) -> Self::Never;
}
