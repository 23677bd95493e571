//! `validate`, which audits the derived data of a collection.

use odm::bson::{RawArrayBuf, RawDocumentBuf, raw::cstr, rawdoc};

use super::{Access, Command, Context, collections, count::number_of, namespace};
use crate::{
    arguments::Arguments,
    error::{CommandError, Result, code},
};

pub(super) const COMMANDS: &[Command] = &[Command::new(
    "validate",
    Access::Read,
    |context, arguments| Box::pin(validate(context, arguments)),
)];

/// How many findings are listed.
const LISTED: u64 = 100;

async fn validate(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    let name = namespace::take(context, &mut arguments, "validate")?;
    // Every audit is complete, beside the writes of others, and changes nothing.
    for option in ["full", "background", "scandata", "checkBSONConformance"] {
        arguments.ignore(option);
    }
    for option in ["repair", "metadata"] {
        arguments.refuse_true(option)?;
    }
    arguments.end()?;
    let existing = match context.collections() {
        Some(all) if namespace::exists(all, name).await? => all.collection(name),
        _ => {
            let message = format!(
                "Collection '{}.{name}' does not exist to validate.",
                context.database
            );
            return Err(CommandError::new(code::NAMESPACE_NOT_FOUND, message));
        }
    };
    let (mut found, mut errors) = (0, RawArrayBuf::new());
    let mut audit = existing.audit().with_validation();
    while let Some(finding) = audit.try_next().await? {
        found += 1;
        if found <= LISTED {
            errors.push(finding.to_string());
        }
    }
    let stats = collections::stats(context, name).await?;
    let mut reply = rawdoc! { "ns": format!("{}.{name}", context.database) };
    reply.append(cstr!("nInvalidDocuments"), number_of(found));
    for (name, of) in [
        (cstr!("nrecords"), "count"),
        (cstr!("nIndexes"), "nindexes"),
    ] {
        if let Some(number) = stats.get(of)? {
            reply.append(name, number);
        }
    }
    reply.append(cstr!("valid"), found == 0);
    reply.append(cstr!("repaired"), false);
    reply.append(cstr!("warnings"), RawArrayBuf::new());
    reply.append(cstr!("errors"), errors);
    Ok(reply)
}
