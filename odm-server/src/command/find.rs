//! `find`.

use odm::{
    bson::RawDocumentBuf,
    collections::FindDocuments,
    mql::{Collation, Filter, Projection, Sort},
};

use super::{
    Access, Command, Context,
    cursors::{self, FirstBatch},
    namespace,
};
use crate::{
    arguments::Arguments,
    cursor::{Cursor, Documents},
    error::Result,
};

pub(super) const COMMANDS: &[Command] =
    &[Command::new("find", Access::Read, |context, arguments| {
        Box::pin(find(context, arguments))
    })];

/// What a client wants to find.
#[derive(Debug, Default)]
pub(super) struct Query<'a> {
    pub(super) collection: &'a str,
    pub(super) filter: Filter,
    pub(super) sort: Sort,
    pub(super) skip: u64,
    pub(super) limit: Option<u64>,
    pub(super) projection: Option<Projection>,
    pub(super) batch: FirstBatch,
    /// That of the filter, the sort and the projection.
    pub(super) collation: Option<Collation>,
}

impl<'a> Query<'a> {
    /// Takes the arguments of `find`.
    pub(super) fn take(context: Context<'_>, arguments: &mut Arguments<'a>) -> Result<Self> {
        arguments.take_variables()?;
        arguments.take_collation()?;
        let query = Query {
            collection: namespace::take(context, arguments, "find")?,
            filter: arguments.filter("filter")?,
            sort: arguments.sort("sort")?,
            skip: arguments.count("skip")?.unwrap_or(0),
            limit: arguments.count("limit")?.filter(|limit| *limit > 0),
            projection: arguments.projection("projection")?,
            batch: FirstBatch {
                size: arguments.count("batchSize")?,
                is_single: arguments.flag("singleBatch")?,
            },
            collation: arguments.collation().cloned(),
        };
        for name in ["hint", "min", "max", "$_resumeAfter", "$_startAt"] {
            arguments.refuse(name)?;
        }
        for name in [
            "returnKey",
            "showRecordId",
            "tailable",
            "awaitData",
            "$_requestResumeToken",
        ] {
            arguments.refuse_true(name)?;
        }
        for name in [
            "allowDiskUse",
            "noCursorTimeout",
            "allowPartialResults",
            "oplogReplay",
            "readOnce",
        ] {
            arguments.ignore(name);
        }
        Ok(query)
    }

    /// The search in the collections of the database.
    pub(super) fn find(self, context: Context<'_>) -> Option<FindDocuments> {
        let collection = context.collections()?.collection(self.collection);
        let mut find = collection.find(self.filter).sort(self.sort).skip(self.skip);
        if let Some(limit) = self.limit {
            find = find.limit(limit);
        }
        if let Some(projection) = self.projection {
            find = find.project(projection);
        }
        Some(find)
    }

    /// Runs the query, and returns the reply with its first batch.
    pub(super) async fn run(self, context: Context<'_>) -> Result<RawDocumentBuf> {
        let Query {
            collection,
            limit,
            batch,
            ..
        } = self;
        let documents = match self.find(context) {
            Some(find) => Documents::Stored(Box::new(find.cursor())),
            None => Documents::Listed(Vec::new().into_iter()),
        };
        let cursor = Cursor::new(context.database, collection, documents)
            .with_limit(limit)
            .reading([collection.to_owned()]);
        cursors::first(context, cursor, batch).await
    }
}

async fn find(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    let query = Query::take(context, &mut arguments)?;
    arguments.end()?;
    query.run(context).await
}
