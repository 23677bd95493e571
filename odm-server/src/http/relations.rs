//! The relations of a database, as far as a user may read the collections.

use odm::bson::{Bson, Document, RawBsonRef, RawDocument, RawDocumentBuf};

use crate::{
    auth::is_secret,
    connection::Client,
    error::{CommandError, Result, code},
    server::ServerState,
};

/// The fields of a relation that name collections.
const COLLECTIONS: [&str; 7] = ["name", "from", "to", "holder", "source", "hot", "cold"];

/// The relations between collections that the client may read, of the database that a document names.
pub(super) async fn of(
    state: &ServerState,
    client: &Client,
    asked: &RawDocument,
) -> Result<RawDocumentBuf> {
    let Ok(Some(RawBsonRef::String(database))) = asked.get("$db") else {
        let message = "BSON field '$db' is missing but a required field";
        return Err(CommandError::new(code::BAD_VALUE, message));
    };
    let caller = match state.requires_users {
        true => client.authentication.caller(state).await?,
        false => None,
    };
    let can_read = |collection: &str| match (&caller, state.requires_users) {
        (Some(caller), _) => caller.can_read(database, collection),
        (None, true) => false,
        (None, false) => !is_secret(collection),
    };
    let all = match state.databases.get(database) {
        Some(collections) => collections.relations().await?.to_document(),
        None => Document::new(),
    };
    let is_shown = |relation: &Bson| {
        relation.as_document().is_some_and(|relation| {
            let mut named = COLLECTIONS.iter().filter_map(|name| relation.get(*name));
            named.all(|name| name.as_str().is_some_and(can_read))
        })
    };
    let mut shown = Document::new();
    for (name, list) in all {
        if let Bson::Array(mut relations) = list {
            relations.retain(is_shown);
            shown.insert(name, relations);
        }
    }
    shown.insert("ok", 1.0);
    Ok(RawDocumentBuf::try_from(&shown)?)
}
