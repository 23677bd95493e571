//! `count`.

use odm::bson::{RawDocumentBuf, rawdoc};

use super::{
    Access, Command, Context,
    find::{Query, ViewStages},
    namespace,
};
use crate::{
    arguments::Arguments,
    error::{Result, code},
};

pub(super) const COMMANDS: &[Command] =
    &[Command::new("count", Access::Read, |context, arguments| {
        Box::pin(count(context, arguments))
    })];

async fn count(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    let mut query = take(context, &mut arguments)?;
    arguments.end()?;
    if let Some(aggregation) = query.aggregation(context) {
        let (mut documents, mut number) = (aggregation.cursor().await?, 0);
        while documents.try_next().await?.is_some() {
            number += 1;
        }
        return Ok(rawdoc! { "n": number_of(number) });
    }
    let number = match query.find(context) {
        Some(find) => find.count().await?,
        None => 0,
    };
    Ok(rawdoc! { "n": number_of(number) })
}

/// Takes the arguments of `count`.
pub(super) fn take<'a>(context: Context<'_>, arguments: &mut Arguments<'a>) -> Result<Query<'a>> {
    arguments.take_collation()?;
    let stages = ViewStages::look(arguments, ["query", "", ""])?;
    let query = Query {
        collation: arguments.collation().cloned(),
        collection: namespace::take(context, arguments, "count")?,
        filter: arguments.filter("query")?,
        skip: arguments.count("skip")?.unwrap_or(0),
        // A negative limit means the same as a positive one.
        limit: arguments
            .whole("limit", code::BAD_VALUE)?
            .map(i64::unsigned_abs)
            .filter(|limit| *limit > 0),
        ..Query::default()
    };
    arguments.refuse("hint")?;
    arguments.ignore("fields");
    query.in_view(stages, arguments)
}

/// A number of documents in a reply: an `int` if it fits, as MongoDB sends it.
pub(super) fn number_of(number: u64) -> odm::bson::RawBson {
    match i32::try_from(number) {
        Ok(number) => number.into(),
        Err(_) => i64::try_from(number).unwrap_or(i64::MAX).into(),
    }
}
