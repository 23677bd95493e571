//! `update`.

use odm::{
    Collection,
    bson::{Document, RawBsonRef, RawDocument, RawDocumentBuf},
    collections::{DocumentUpdate, Statement, UpdateDocuments, WrittenDocuments},
    mql::{Collation, Filter, Sort, Update, UpdatePipeline, Variables},
};

use super::{
    Access, Command, Context, aggregate, namespace,
    write::{self, Statements, WriteOptions, WriteReply},
};
use crate::{
    arguments::Arguments,
    error::{CommandError, Result, code},
};

pub(super) const COMMANDS: &[Command] = &[Command::new(
    "update",
    Access::Write,
    |context, arguments| Box::pin(update(context, arguments)),
)];

async fn update(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    let collection = namespace::take_writable(context, &mut arguments, "update")?;
    let options = WriteOptions::take(&mut arguments)?;
    let statements = arguments.all_nested("updates")?;
    arguments.end()?;
    write::check_number(statements.len())?;
    let statements: Vec<UpdateStatement<'_>> = statements
        .into_iter()
        .map(UpdateStatement::take)
        .collect::<Result<_>>()?;
    let of = format!("update {}", collection.name());
    let mut all = Statements::begin(context, of, options, WriteReply::of_update()).await?;
    for (at, statement) in statements.into_iter().enumerate() {
        if at < all.next() {
            continue;
        }
        let add = move |reply: &mut WriteReply, written: &WrittenDocuments| {
            reply.number += written.matched;
            reply.modified = reply.modified.map(|modified| modified + written.modified);
            if let Some(id) = &written.inserted_id {
                reply.number += 1;
                reply.upserted(at, id.clone());
            }
        };
        let done = match statement.of(&collection, options) {
            Ok(update) => all.carry_out(at + 1, Statement::Update(update), add).await,
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

/// The scope in which the filter and the change of a write are read.
#[derive(Debug)]
pub(super) struct ChangeScope {
    variables: Variables,
    collation: Option<Collation>,
}

impl ChangeScope {
    /// The scope that the arguments state.
    pub(super) fn of(arguments: &Arguments<'_>) -> Self {
        ChangeScope {
            variables: arguments.variables().clone(),
            collation: arguments.collation().cloned(),
        }
    }

    pub(super) fn filter(&self, filter: &RawDocument) -> Result<Filter> {
        let filter = Filter::parse_with(&Document::try_from(filter)?, &self.variables)?;
        Ok(filter.collated(self.collation.as_ref()))
    }
}

/// One update of the command.
#[derive(Debug)]
pub(super) struct UpdateStatement<'a> {
    filter: &'a RawDocument,
    change: RawBsonRef<'a>,
    scope: ChangeScope,
    array_filters: Vec<&'a RawDocument>,
    sort: Option<&'a RawDocument>,
    is_multi: bool,
    is_upsert: bool,
}

impl<'a> UpdateStatement<'a> {
    /// Takes the fields of a statement. Their values are checked when the statement is carried out.
    pub(super) fn take(mut fields: Arguments<'a>) -> Result<Self> {
        fields.take_collation()?;
        let statement = UpdateStatement {
            filter: fields.required("q")?,
            change: fields.required("u")?,
            scope: ChangeScope::of(&fields),
            array_filters: fields.documents("arrayFilters")?.unwrap_or_default(),
            sort: fields.optional("sort")?,
            is_multi: fields.flag("multi")?,
            is_upsert: fields.flag("upsert")?,
        };
        fields.refuse("hint")?;
        fields.refuse("c")?;
        fields.refuse_true("upsertSupplied")?;
        fields.ignore("sampleId");
        fields.end()?;
        Ok(statement)
    }

    pub(super) fn of(
        self,
        collection: &Collection,
        options: WriteOptions,
    ) -> Result<UpdateDocuments> {
        let filter = self.scope.filter(self.filter)?;
        let change = change_of(self.change, &self.array_filters, &self.scope)?;
        if self.is_multi && matches!(change, DocumentUpdate::Replace(_)) {
            return Err(refused(
                "multi update is not supported for replacement-style update",
            ));
        }
        let mut update = collection.update(filter, change);
        match (self.sort, self.is_multi) {
            (Some(_), true) => return Err(refused("Cannot specify sort with multi=true")),
            (Some(sort), false) => {
                let sort = Sort::parse(&Document::try_from(sort)?)?;
                update = update.sort(sort.collated(self.scope.collation.as_ref()));
            }
            (None, true) => {}
            (None, false) => update = update.first(),
        }
        if self.is_upsert {
            update = update.upsert();
        }
        if options.bypasses_rule {
            update = update.bypass_document_validation();
        }
        Ok(update)
    }
}

/// Reads a change: a document of operators, one that replaces another, or the stages of a pipeline.
pub(super) fn change_of(
    change: RawBsonRef<'_>,
    array_filters: &[&RawDocument],
    scope: &ChangeScope,
) -> Result<DocumentUpdate> {
    let collation = scope.collation.as_ref();
    let change = match change {
        RawBsonRef::Document(change) => change,
        RawBsonRef::Array(stages) => {
            if !array_filters.is_empty() {
                return Err(refused(
                    "arrayFilters may not be specified for pipeline-syle updates",
                ));
            }
            let stages = aggregate::stages(stages)?;
            let update = UpdatePipeline::parse_collated(&stages, &scope.variables, collation)?;
            return Ok(update.into());
        }
        _ => {
            return Err(refused(
                "Update argument must be either an object or an array",
            ));
        }
    };
    let is_update = match change.iter().next() {
        Some(first) => first?.0.as_str().starts_with('$'),
        None => false,
    };
    if !is_update {
        if !array_filters.is_empty() {
            return Err(refused(
                "Cannot specify arrayFilters for a replacement-style update",
            ));
        }
        return replacement(change);
    }
    let array_filters = array_filters
        .iter()
        .map(|filter| Ok(Document::try_from(*filter)?));
    let array_filters: Vec<Document> = array_filters.collect::<Result<_>>()?;
    let update = Update::parse(&Document::try_from(change)?, &array_filters)?;
    Ok(update.collated(collation).into())
}

fn replacement(document: &RawDocument) -> Result<DocumentUpdate> {
    for field in document {
        let (name, _) = field?;
        if name.as_str().starts_with('$') {
            let message = format!(
                "The dollar ($) prefixed field '{name}' is not allowed in the context of an update's replacement document."
            );
            return Err(CommandError::new(code::DOLLAR_PREFIXED_FIELD_NAME, message));
        }
    }
    Ok(document.to_owned().into())
}

fn refused(message: &str) -> CommandError {
    CommandError::new(code::FAILED_TO_PARSE, message)
}
