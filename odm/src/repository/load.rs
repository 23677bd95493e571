//! Loading cold parts into documents that were read without them.

use odm_store::Result;
use serde::de::DeserializeOwned;

use super::rows::decode_part;
use crate::{
    model::{Cold, Document, Embed, Field, HasCold, Path, id_to_raw},
    session::{ColdPart, Session},
};

/// Documents whose cold parts can be loaded: one or many.
///
/// One document, or a list of them:
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let manual = Product::fields().manual;
/// let mut shelf = shop.products.get(1).await?;
/// shop.products.load(&mut shelf, manual).await?;
/// let mut others = shop.products.get_many([2, 3]).await?;
/// shop.products.load(&mut others, manual).await?;
/// assert!(shelf.manual.is_loaded() && others[1].manual.is_loaded());
/// # Ok(()) });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a `{M}` nor a list of them",
    label = "expected a `{M}`, a slice or a `Vec` of them"
)]
pub trait Load<M> {
    /// The documents.
    #[doc(hidden)]
    fn documents(&mut self) -> &mut [M];
}

impl<M: Document> Load<M> for M {
    fn documents(&mut self) -> &mut [M] {
        std::slice::from_mut(self)
    }
}

impl<M> Load<M> for [M] {
    fn documents(&mut self) -> &mut [M] {
        self
    }
}

impl<M> Load<M> for Vec<M> {
    fn documents(&mut self) -> &mut [M] {
        self
    }
}

/// Loads one cold part of documents by one query; see
/// [`Repository::load`](super::Repository::load).
pub(super) async fn load<M, T, P, K>(
    session: &Session,
    documents: &mut [M],
    _: Field<Cold<T>, P, K>,
) -> Result<()>
where
    M: Document + HasCold<P, T>,
    P: Path,
    T: Embed + DeserializeOwned,
{
    let ids = documents
        .iter()
        .map(|document| id_to_raw::<M>(document.id()));
    let ids = ids.collect::<Result<Vec<_>>>()?;
    let loaded = session.cold_parts(M::COLLECTION, P::TEXT, &ids).await?;
    let Some(parts) = loaded else {
        return Ok(());
    };
    for ((document, id), part) in documents.iter_mut().zip(&ids).zip(parts) {
        match part {
            ColdPart::Stored(value) => {
                let value = decode_part(M::COLLECTION, id, P::TEXT, &value)?;
                *document.cold() = Cold::new(value);
            }
            // The cold part was read with the document.
            ColdPart::Inline => {}
            ColdPart::Missing => *document.cold() = Cold::unloaded(),
        }
    }
    Ok(())
}
