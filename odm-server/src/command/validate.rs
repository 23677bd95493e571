//! `validate`, which audits the derived data of a collection.

use odm::{
    Problem,
    bson::{RawArrayBuf, RawDocumentBuf, raw::cstr, rawdoc},
};

use super::{Access, Command, Context, count::number_of, indexes, namespace, stats};
use crate::{
    arguments::Arguments,
    error::{CommandError, Result, code},
};

pub(super) const COMMANDS: &[Command] = &[Command::new(
    "validate",
    Access::Read,
    |context, arguments| Box::pin(validate(context, arguments)),
)];

/// The text in place of a reason, for users who may not read all collections.
const HIDDEN: &str = "users who may read all collections are shown the reason";

/// How many findings are listed.
const LISTED: u64 = 100;

async fn validate(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    let name = namespace::take(context, &mut arguments, "validate")?;
    // Every audit is complete, beside the writes of others, and changes nothing.
    let (is_full, is_beside) = (arguments.flag("full")?, arguments.flag("background")?);
    if is_full && is_beside {
        let message = "Running the validate command with both { background: true } and { full: true } is not supported.";
        return Err(CommandError::new(code::INVALID_OPTIONS, message));
    }
    for option in ["scandata", "checkBSONConformance"] {
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
    // The reason of a failure can have values of any collection.
    let shows_reasons = context
        .caller
        .is_none_or(|caller| caller.rights.can_read_all());
    loop {
        let next = audit.try_next().await.map_err(CommandError::from);
        let next = next.map_err(|error| {
            if shows_reasons {
                error
            } else {
                CommandError::new(error.code, format!("validation failed: {HIDDEN}"))
            }
        });
        let Some(mut finding) = next? else { break };
        found += 1;
        if let (false, Problem::FailedRefresh(reason) | Problem::CheckFailed(reason)) =
            (shows_reasons, &mut finding.problem)
        {
            HIDDEN.clone_into(reason);
        }
        if found <= LISTED {
            errors.push(finding.to_string());
        }
    }
    let info = indexes::info(context, name).await?;
    let mut reply = rawdoc! { "ns": format!("{}.{name}", context.database) };
    reply.append(cstr!("nInvalidDocuments"), number_of(found));
    reply.append(
        cstr!("nrecords"),
        number_of(stats::count(context, name).await?),
    );
    let number = info.map_or(0, |info| info.indexes.len() as u64 + 1);
    reply.append(cstr!("nIndexes"), number_of(number));
    reply.append(cstr!("valid"), found == 0);
    reply.append(cstr!("repaired"), false);
    reply.append(cstr!("warnings"), RawArrayBuf::new());
    reply.append(cstr!("errors"), errors);
    Ok(reply)
}
