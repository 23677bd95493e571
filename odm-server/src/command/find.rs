//! `find`.

use odm::{
    bson::{Document, RawDocument, RawDocumentBuf, doc},
    collections::{AggregateDocuments, FindDocuments},
    mql::{Collation, Filter, Pipeline, Projection, QueryPrefix, Sort},
};

use super::{
    Access, Command, Context,
    cursors::{self, FirstBatch},
    namespace,
};
use crate::{
    arguments::Arguments,
    cursor::{Cursor, Documents},
    error::{CommandError, Result},
};

pub(super) const COMMANDS: &[Command] =
    &[Command::new("find", Access::Read, |context, arguments| {
        Box::pin(find(context, arguments))
    })];

/// The query of a client.
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
    /// The stages with the meaning of the search, if it is one in a view.
    pub(super) in_view: Option<Pipeline>,
}

/// The parts of a search in a view, which become stages: its filter, its sort and its projection.
pub(super) struct ViewStages([Option<Document>; 3]);

impl ViewStages {
    /// Looks at these arguments of a command, which stay. `None` if it is no command on a view.
    pub(super) fn look(
        arguments: &Arguments<'_>,
        [filter, sort, projection]: [&str; 3],
    ) -> Result<Option<Self>> {
        if !arguments.is_of_view() {
            return Ok(None);
        }
        let part = |name: &str| {
            let part = arguments.look::<&RawDocument>(name).map(Document::try_from);
            Ok::<_, CommandError>(part.transpose()?.filter(|part| !part.is_empty()))
        };
        Ok(Some(ViewStages([
            part(filter)?,
            part(sort)?,
            part(projection)?,
        ])))
    }
}

impl Query<'_> {
    /// Makes the search one in a view, if there are stages of one.
    pub(super) fn in_view(
        mut self,
        stages: Option<ViewStages>,
        arguments: &Arguments<'_>,
    ) -> Result<Self> {
        let Some(ViewStages([filter, sort, projection])) = stages else {
            return Ok(self);
        };
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let skip = Some(self.skip).filter(|skip| *skip > 0);
        let stages = [
            filter.map(|filter| doc! { "$match": filter }),
            sort.map(|sort| doc! { "$sort": sort }),
            skip.map(|skip| doc! { "$skip": number(skip) }),
            self.limit.map(|limit| doc! { "$limit": number(limit) }),
            projection.map(|projection| doc! { "$project": projection }),
        ];
        let stages: Vec<Document> = stages.into_iter().flatten().collect();
        let collation = self.collation.as_ref();
        let pipeline = Pipeline::parse_collated(&stages, arguments.variables(), collation)?;
        self.in_view = Some(pipeline);
        Ok(self)
    }

    /// Takes the search in a view, if it is one.
    pub(super) fn aggregation(&mut self, context: Context<'_>) -> Option<AggregateDocuments> {
        let collection = context.collections()?.collection(self.collection);
        let pipeline = self.in_view.take()?;
        Some(collection.aggregate(pipeline))
    }
}

impl<'a> Query<'a> {
    /// The query with which a pipeline begins.
    pub(super) fn of(query: QueryPrefix) -> Self {
        Query {
            filter: query.filter,
            sort: query.sort.unwrap_or_default(),
            skip: query.skip,
            limit: query.limit,
            ..Query::default()
        }
    }

    /// Takes the arguments of `find`.
    pub(super) fn take(context: Context<'_>, arguments: &mut Arguments<'a>) -> Result<Self> {
        arguments.take_variables()?;
        arguments.take_collation()?;
        let stages = ViewStages::look(arguments, ["filter", "sort", "projection"])?;
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
            in_view: None,
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
        query.in_view(stages, arguments)
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
    pub(super) async fn run(mut self, context: Context<'_>) -> Result<RawDocumentBuf> {
        let aggregation = self.aggregation(context);
        let Query {
            collection,
            limit,
            batch,
            ..
        } = self;
        let documents = match (aggregation, self.find(context)) {
            (Some(aggregation), _) => Documents::Aggregated(Box::new(aggregation.cursor().await?)),
            (None, Some(find)) => Documents::Stored(Box::new(find.cursor())),
            (None, None) => Documents::Listed(Vec::new().into_iter()),
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
