//! `distinct`.

use std::collections::HashSet;

use odm::{
    bson::{RawArrayBuf, RawBsonRef, RawDocumentBuf, rawdoc},
    mql,
};

use super::{
    Access, Command, Context,
    cursors::append_time,
    find::{Query, ViewStages},
    namespace,
};
use crate::{
    arguments::Arguments,
    cursor::Documents,
    error::{CommandError, Result, code},
};

pub(super) const COMMANDS: &[Command] = &[Command::new(
    "distinct",
    Access::Read,
    |context, arguments| Box::pin(distinct(context, arguments)),
)];

/// The bytes of all values.
const MAX_VALUES: usize = 16 << 20;

/// Takes the arguments of `distinct`: its search, and the path of its values.
pub(super) fn take<'a>(
    context: Context<'_>,
    arguments: &mut Arguments<'a>,
) -> Result<(Query<'a>, &'a str)> {
    arguments.take_collation()?;
    let stages = ViewStages::look(arguments, ["query", "", ""])?;
    let query = Query {
        collation: arguments.collation().cloned(),
        collection: namespace::take(context, arguments, "distinct")?,
        filter: arguments.filter("query")?,
        ..Query::default()
    };
    let path: &str = arguments.required("key")?;
    arguments.refuse("hint")?;
    mql::path::check(path)?;
    Ok((query.in_view(stages, arguments)?, path))
}

async fn distinct(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    let (mut query, path) = take(context, &mut arguments)?;
    arguments.end()?;
    let mut values = RawArrayBuf::new();
    let reply = |values: RawArrayBuf| {
        let mut reply = rawdoc! { "values": values };
        append_time(&mut reply, context.snapshot.map(|snapshot| snapshot.time));
        reply
    };
    let collation = query.collation.clone();
    let aggregation = query.aggregation(context);
    let mut documents = match (aggregation, query.find(context)) {
        (Some(aggregation), _) => Documents::Aggregated(Box::new(aggregation.cursor().await?)),
        (None, Some(find)) => Documents::Stored(Box::new(find.cursor())),
        (None, None) => return Ok(reply(values)),
    };
    let mut seen = HashSet::new();
    while let Some(document) = documents.next().await? {
        mql::path::each_value(&document, path, &mut |value| {
            if seen.insert(mql::key::of_by(collation.as_ref(), value)) {
                values.push(value);
            }
        });
        if values.as_bytes().len() > MAX_VALUES {
            return Err(CommandError::new(
                code::DISTINCT_TOO_BIG,
                "distinct too big, 16mb cap",
            ));
        }
    }
    let mut sorted: Vec<RawBsonRef<'_>> = values.into_iter().flatten().collect();
    sorted.sort_by(|a, b| mql::order::compare_by(collation.as_ref(), *a, *b));
    Ok(reply(sorted.into_iter().collect()))
}
