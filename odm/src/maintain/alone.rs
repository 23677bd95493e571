//! Updates of one document from which nothing follows, as a store runs them without a transaction.

use super::{Write, base, read_only, validation};
use crate::{
    catalog::Catalog,
    mql::{Filter, Test},
    store::{Change, UpdateAlone, UpdateWrite},
};

/// The update that a write is, if nothing follows from it and no document has to be looked at. What is wrong with a write is
/// found by the unit of work that it is otherwise.
pub(super) fn update_of(catalog: &Catalog, write: &Write) -> Option<UpdateAlone> {
    let Write::Update {
        write:
            UpdateWrite {
                collection,
                filter,
                change: Change::Update(update),
                upsert: false,
                ..
            },
        is_typed,
        returning: None,
        ..
    } = write
    else {
        return None;
    };
    let is_of_one = matches!(filter, Filter::Path(path, Test::Eq(_)) if path == "_id");
    let is_allowed = || {
        read_only::check(catalog, write).is_ok()
            && update.check().is_ok()
            && catalog.check_write(collection).is_ok()
    };
    if !is_of_one
        || catalog.is_changing()
        || base::is_followed(catalog, collection, update)
        || !is_allowed()
    {
        return None;
    }
    let kept = validation::kept_by(catalog, collection, update, *is_typed)?;
    Some(UpdateAlone {
        collection: collection.clone(),
        filter: filter.clone().and(kept),
        update: update.clone(),
        epoch: catalog.epoch(),
    })
}
