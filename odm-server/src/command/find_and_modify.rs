//! `findAndModify`.

use odm::{
    bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf, raw::cstr, rawdoc},
    collections::{Statement, WrittenDocuments},
    mql::{Filter, Projection},
};

use super::{
    Access, Command, Context, namespace,
    update::{ChangeScope, change_of},
    write,
};
use crate::{
    arguments::Arguments,
    error::{CommandError, Result, code},
};

pub(super) const COMMANDS: &[Command] = &[
    Command::new("findAndModify", Access::Write, |context, arguments| {
        Box::pin(find_and_modify(context, arguments))
    }),
    Command::new("findandmodify", Access::Write, |context, arguments| {
        Box::pin(find_and_modify(context, arguments))
    }),
];

/// The change of the document that is found.
#[derive(Debug)]
enum Modification<'a> {
    Remove,
    Update {
        change: RawBsonRef<'a>,
        array_filters: Vec<&'a RawDocument>,
        upsert: bool,
        /// The document is returned as it is after the update.
        new: bool,
    },
}

impl<'a> Modification<'a> {
    fn take(arguments: &mut Arguments<'a>) -> Result<Self> {
        let change = arguments.optional::<RawBsonRef<'_>>("update")?;
        let array_filters = arguments.documents("arrayFilters")?;
        let (remove, upsert) = (arguments.flag("remove")?, arguments.flag("upsert")?);
        let new = arguments.flag("new")?;
        let refused = |message| Err(CommandError::new(code::FAILED_TO_PARSE, message));
        match (change, remove) {
            (None, false) => refused("Either an update or remove=true must be specified"),
            (Some(_), true) => refused("Cannot specify both an update and remove=true"),
            (None, true) if upsert => refused("Cannot specify both upsert=true and remove=true"),
            (None, true) if new => refused(
                "Cannot specify both new=true and remove=true; 'remove' always returns the deleted document",
            ),
            (None, true) if array_filters.is_some() => {
                refused("Cannot specify arrayFilters and remove=true")
            }
            (None, true) => Ok(Modification::Remove),
            (Some(change), false) => Ok(Modification::Update {
                change,
                array_filters: array_filters.unwrap_or_default(),
                upsert,
                new,
            }),
        }
    }
}

async fn find_and_modify(
    context: Context<'_>,
    mut arguments: Arguments<'_>,
) -> Result<RawDocumentBuf> {
    let field = match arguments.name() {
        "findandmodify" => "findandmodify",
        _ => "findAndModify",
    };
    let collection = namespace::take_writable(context, &mut arguments, field)?;
    arguments.take_variables()?;
    arguments.refuse_true("bypassEmptyTsReplacement")?;
    let bypasses_rule = arguments.flag("bypassDocumentValidation")?;
    arguments.take_collation()?;
    let filter = arguments.filter("query")?;
    let sort = arguments.sort("sort")?;
    let projection = arguments.projection("fields")?;
    let modification = Modification::take(&mut arguments)?;
    let scope = ChangeScope::of(&arguments);
    arguments.refuse("hint")?;
    arguments.end()?;

    let (statement, is_update) = match modification {
        Modification::Remove => {
            let delete = collection.delete(filter.clone()).sort(sort).returning();
            (Statement::Delete(delete), false)
        }
        Modification::Update {
            change,
            array_filters,
            upsert,
            new,
        } => {
            let change = change_of(change, &array_filters, &scope)?;
            let update = collection.update(filter.clone(), change).sort(sort);
            let update = match new {
                true => update.returning(),
                false => update.returning_before(),
            };
            let update = match upsert {
                true => update.upsert(),
                false => update,
            };
            let update = match bypasses_rule {
                true => update.bypass_document_validation(),
                false => update,
            };
            (Statement::Update(update), true)
        }
    };
    let reply = move |done: &WrittenDocuments| {
        let has_one = done.matched > 0 || done.inserted_id.is_some();
        let mut result = rawdoc! { "n": i32::from(has_one) };
        if is_update {
            result.append(cstr!("updatedExisting"), done.matched > 0);
        }
        if let Some(id) = &done.inserted_id {
            result.append(cstr!("upserted"), id.as_raw_bson_ref());
        }
        reply(result, done, &filter, projection.as_ref())
    };
    let of = format!("findAndModify {}", collection.name());
    write::carry_out(context, of, statement, reply).await
}

fn reply(
    result: RawDocumentBuf,
    done: &WrittenDocuments,
    filter: &Filter,
    projection: Option<&Projection>,
) -> odm::Result<RawDocumentBuf> {
    let value = match (done.documents.first(), projection) {
        (None, _) => RawBson::Null,
        (Some(document), None) => RawBson::Document(document.clone()),
        (Some(document), Some(projection)) => {
            RawBson::Document(projection.apply_matched(filter, document)?)
        }
    };
    Ok(rawdoc! { "lastErrorObject": result, "value": value })
}
