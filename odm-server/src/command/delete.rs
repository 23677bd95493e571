//! `delete`.

use odm::{
    Collection,
    bson::{RawDocument, RawDocumentBuf},
    collections::{DeleteDocuments, Statement, WrittenDocuments},
};

use super::{
    Access, Command, Context, namespace,
    update::ChangeScope,
    write::{self, Statements, WriteOptions, WriteReply},
};
use crate::{
    arguments::Arguments,
    error::{CommandError, Result, code},
};

pub(super) const COMMANDS: &[Command] = &[Command::new(
    "delete",
    Access::Write,
    |context, arguments| Box::pin(delete(context, arguments)),
)];

async fn delete(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    let collection = namespace::take_writable(context, &mut arguments, "delete")?;
    let options = WriteOptions::take(&mut arguments)?;
    let statements = arguments.all_nested("deletes")?;
    arguments.end()?;
    write::check_number(statements.len())?;
    let statements: Vec<DeleteStatement<'_>> = statements
        .into_iter()
        .map(DeleteStatement::take)
        .collect::<Result<_>>()?;
    let of = format!("delete {}", collection.name());
    let mut all = Statements::begin(context, of, options, WriteReply::default()).await?;
    for (at, statement) in statements.into_iter().enumerate() {
        if at < all.next() {
            continue;
        }
        let add = |reply: &mut WriteReply, written: &WrittenDocuments| {
            reply.number += written.modified;
        };
        let done = match statement.of(&collection) {
            Ok(delete) => all.carry_out(at + 1, Statement::Delete(delete), add).await,
            Err(error) => Err(error),
        };
        if let Err(error) = done
            && !all.fail(at, error)?
        {
            break;
        }
    }
    Ok(all.into_reply())
}

/// One delete of the command.
#[derive(Debug)]
struct DeleteStatement<'a> {
    filter: &'a RawDocument,
    scope: ChangeScope,
    is_first: bool,
}

impl<'a> DeleteStatement<'a> {
    fn take(mut fields: Arguments<'a>) -> Result<Self> {
        let filter = fields.required("q")?;
        fields.take_collation()?;
        let scope = ChangeScope::of(&fields);
        let limit: i64 = fields.required("limit")?;
        fields.refuse("hint")?;
        fields.ignore("sampleId");
        fields.end()?;
        match limit {
            0 | 1 => Ok(DeleteStatement {
                filter,
                scope,
                is_first: limit == 1,
            }),
            _ => {
                let message =
                    format!("The limit field in delete objects must be 0 or 1. Got {limit}");
                Err(CommandError::new(code::FAILED_TO_PARSE, message))
            }
        }
    }

    fn of(self, collection: &Collection) -> Result<DeleteDocuments> {
        let delete = collection.delete(self.scope.filter(self.filter)?);
        Ok(match self.is_first {
            true => delete.first(),
            false => delete,
        })
    }
}
