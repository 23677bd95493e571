//! Read concerns.

use odm::bson::Timestamp;

use super::change_stream;
use crate::{
    arguments::Arguments,
    cluster_time,
    connection::Client,
    error::{CommandError, Result, code},
    server::ServerState,
    snapshots::AskedSnapshot,
};

/// The values of the field that says who has chosen a concern. It has no effect.
const PROVENANCES: [&str; 4] = [
    "clientSupplied",
    "implicitDefault",
    "customDefault",
    "getLastErrorDefaults",
];

fn check_provenance(provenance: Option<&str>) -> Result<()> {
    match provenance {
        Some(other) if !PROVENANCES.contains(&other) => {
            let message = format!(
                "Enumeration value '{other}' for field 'readConcern.provenance' is not a valid value."
            );
            Err(CommandError::new(code::BAD_VALUE, message))
        }
        _ => Ok(()),
    }
}

/// Takes the read concern of a command, and returns the snapshot that it asks for. Every read is of committed data, so that all levels of
/// a single server are the same, but that of a snapshot.
pub(super) fn take(
    state: &ServerState,
    client: &Client,
    arguments: &mut Arguments<'_>,
    is_in_transaction: bool,
) -> Result<Option<AskedSnapshot>> {
    let Some(mut concern) = arguments.nested("readConcern")? else {
        return Ok(None);
    };
    let stated: Option<&str> = concern.optional("level")?;
    let level = stated.unwrap_or("local");
    let after = concern.optional::<Timestamp>("afterClusterTime")?;
    let at = concern.optional::<Timestamp>("atClusterTime")?;
    concern.refuse("afterOpTime")?;
    check_provenance(concern.optional("provenance")?)?;
    concern.end()?;
    let is_null = |time: Timestamp| (time.time, time.increment) == (0, 0);
    let invalid = match at {
        None => None,
        Some(_) if level != "snapshot" => {
            Some("readConcern atClusterTime can only be set with the level 'snapshot'")
        }
        Some(_) if after.is_some() => {
            Some("readConcern can have one of atClusterTime and afterClusterTime")
        }
        Some(at) if is_null(at) => Some("readConcern atClusterTime cannot be a null timestamp"),
        Some(_) => None,
    };
    if let Some(message) = invalid {
        return Err(CommandError::new(code::INVALID_OPTIONS, message));
    }
    if at.is_some() && is_in_transaction {
        let message = "a transaction that reads an earlier state is not supported by this server";
        return Err(CommandError::new(code::NOT_IMPLEMENTED, message));
    }
    if let Some(after) = after {
        cluster_time::check_after(state, client, after)?;
    }
    if !matches!(
        level,
        "local" | "available" | "majority" | "linearizable" | "snapshot"
    ) {
        let message = format!(
            "Enumeration value '{level}' for field 'readConcern.level' is not a valid value."
        );
        return Err(CommandError::new(code::BAD_VALUE, message));
    }
    let is_of_stream = !is_in_transaction && change_stream::asked(arguments).is_some();
    if is_of_stream && stated.is_some_and(|level| level != "majority") {
        let message = format!(
            "Aggregation stage $changeStream cannot run with a readConcern other than 'majority'. Current readConcern: {{ level: \"{level}\" }}"
        );
        return Err(CommandError::new(code::INVALID_OPTIONS, message));
    }
    if level != "snapshot" || is_in_transaction {
        return Ok(None);
    }
    if !client.is_member(state) {
        let message = "node needs to be a replica set member to use readConcern: snapshot";
        return Err(CommandError::new(code::NOT_A_REPLICA_SET, message));
    }
    let at = at.map(|time| AskedSnapshot::At(time.into()));
    Ok(Some(at.unwrap_or(AskedSnapshot::Newest)))
}
