//! Stages that make the documents of a pipeline: from the request, or about collections, indexes and the server.

use odm::{
    bson::{Bson, DateTime, Document, RawBson, RawBsonRef, RawDocumentBuf, raw::cstr, rawdoc},
    mql::{Expr, Variables},
};

use crate::{
    command::{Context, count::number_of, indexes, stats},
    error::{CommandError, Result, code},
};

/// A stage that makes documents.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum SourceStage {
    /// The numbers of a collection.
    CollStats(CollStatsParts),
    /// Its indexes, with how often they were used.
    IndexStats,
    /// The running commands.
    CurrentOp,
    /// The sessions that this server knows, which are all that there are.
    ListLocalSessions,
    /// The same, as documents of the collection in which a replica set has them.
    ListSessions,
    /// Documents of the pipeline itself.
    Documents(Vec<RawDocumentBuf>),
}

/// The arguments of `$collStats`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct CollStatsParts {
    /// The number of documents.
    count: bool,
    /// The sizes, divided by this scale.
    storage: Option<u64>,
}

impl CollStatsParts {
    fn of(options: &Document) -> Result<Self> {
        let storage = match options.get("storageStats") {
            None => None,
            Some(Bson::Document(storage)) => {
                if let Some(other) = storage.keys().find(|name| *name != "scale") {
                    let message = format!(
                        "BSON field '$collStats.storageStats.{other}' is an unknown field."
                    );
                    return Err(CommandError::new(code::UNKNOWN_FIELD, message));
                }
                let scale = match storage.get("scale") {
                    None => 1,
                    Some(Bson::Int32(scale)) => i64::from(*scale),
                    Some(Bson::Int64(scale)) => *scale,
                    Some(Bson::Double(scale)) => *scale as i64,
                    Some(_) => return Err(wrong_type("storageStats.scale", "number")),
                };
                Some(stats::check_scale(scale, "$collStats.storageStats.scale")?)
            }
            Some(_) => return Err(wrong_type("storageStats", "object")),
        };
        Ok(CollStatsParts {
            count: options.contains_key("count"),
            storage,
        })
    }
}

fn wrong_type(field: &str, expected: &str) -> CommandError {
    let message =
        format!("BSON field '$collStats.{field}' is the wrong type, expected type '{expected}'");
    CommandError::new(code::TYPE_MISMATCH, message)
}

impl SourceStage {
    /// The stage of a name whose operand has options.
    fn by_name(name: &str) -> Option<Self> {
        match name {
            "$collStats" => Some(SourceStage::CollStats(CollStatsParts::default())),
            "$indexStats" => Some(SourceStage::IndexStats),
            "$currentOp" => Some(SourceStage::CurrentOp),
            "$listLocalSessions" => Some(SourceStage::ListLocalSessions),
            "$listSessions" => Some(SourceStage::ListSessions),
            "$documents" => Some(SourceStage::Documents(Vec::new())),
            _ => None,
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            SourceStage::CollStats(_) => "$collStats",
            SourceStage::IndexStats => "$indexStats",
            SourceStage::CurrentOp => "$currentOp",
            SourceStage::ListLocalSessions => "$listLocalSessions",
            SourceStage::ListSessions => "$listSessions",
            SourceStage::Documents(_) => "$documents",
        }
    }

    /// Whether the pipeline is one of a database, and not of a collection.
    pub(super) fn is_of_database(&self) -> bool {
        match self {
            SourceStage::CurrentOp | SourceStage::ListLocalSessions | SourceStage::Documents(_) => {
                true
            }
            SourceStage::CollStats(_) | SourceStage::IndexStats | SourceStage::ListSessions => {
                false
            }
        }
    }

    /// Whether it makes the same documents whatever the state of the data is.
    pub(super) fn is_constant(&self) -> bool {
        matches!(self, SourceStage::Documents(_))
    }

    /// The stage with which a pipeline begins, if it makes documents.
    pub(super) fn of(
        context: Context<'_>,
        stages: &[Document],
        variables: &Variables,
    ) -> Result<Option<Self>> {
        let first = stages.first().and_then(|stage| stage.iter().next());
        let Some((name, operand)) = first else {
            return Ok(None);
        };
        match SourceStage::by_name(name) {
            Some(SourceStage::Documents(_)) => {
                Ok(Some(SourceStage::Documents(given(operand, variables)?)))
            }
            Some(source) => {
                source.check(context, operand)?;
                Ok(Some(match (source, operand) {
                    (SourceStage::CollStats(_), Bson::Document(options)) => {
                        SourceStage::CollStats(CollStatsParts::of(options)?)
                    }
                    (source, _) => source,
                }))
            }
            None => Ok(None),
        }
    }

    /// Checks that the stage is where it can be.
    pub(super) fn check_namespace(&self, database: &str, collection: &str) -> Result<()> {
        let place = match self {
            SourceStage::CurrentOp if database != "admin" => {
                "the 'admin' database with {aggregate: 1}"
            }
            SourceStage::ListSessions
                if (database, collection) != ("config", "system.sessions") =>
            {
                "config.system.sessions"
            }
            _ => return Ok(()),
        };
        let message = format!("{} must be run against {place}", self.name());
        Err(CommandError::new(code::INVALID_NAMESPACE, message))
    }

    /// Checks the arguments of the stage.
    fn check(&self, context: Context<'_>, operand: &Bson) -> Result<()> {
        let Bson::Document(options) = operand else {
            let message = "the options of a stage that makes documents must be an object";
            return Err(CommandError::new(code::FAILED_TO_PARSE, message));
        };
        options
            .iter()
            .try_for_each(|(name, value)| self.check_option(context, name, value))
    }

    fn check_option(&self, context: Context<'_>, name: &str, value: &Bson) -> Result<()> {
        let not_supported = |stage: &str| {
            let message = format!("'{stage}.{name}' is not supported by this server");
            Err(CommandError::new(code::NOT_IMPLEMENTED, message))
        };
        match (self, name) {
            (SourceStage::IndexStats, _)
            | (SourceStage::CollStats(_), "storageStats" | "count") => Ok(()),
            (SourceStage::CollStats(_), _) => not_supported("$collStats"),
            (SourceStage::CurrentOp, "idleCursors" | "backtrace")
                if *value == Bson::Boolean(true) =>
            {
                not_supported("$currentOp")
            }
            (
                SourceStage::CurrentOp,
                "allUsers" | "idleConnections" | "idleCursors" | "idleSessions" | "localOps"
                | "truncateOps" | "backtrace",
            ) => match value {
                Bson::Boolean(_) => Ok(()),
                _ => {
                    let message = format!(
                        "The '{name}' parameter of the $currentOp stage must be a boolean value"
                    );
                    Err(CommandError::new(code::FAILED_TO_PARSE, message))
                }
            },
            (SourceStage::ListLocalSessions | SourceStage::ListSessions, "allUsers")
                if matches!(value, Bson::Boolean(_)) =>
            {
                if context.caller.is_some() && *value == Bson::Boolean(true) {
                    let message = format!(
                        "not authorized on {} to execute {} with allUsers: users list their own sessions alone",
                        context.database,
                        self.name()
                    );
                    return Err(CommandError::new(code::UNAUTHORIZED, message));
                }
                Ok(())
            }
            (SourceStage::ListLocalSessions | SourceStage::ListSessions, "users") => {
                not_supported(self.name())
            }
            (SourceStage::ListLocalSessions | SourceStage::ListSessions, _) => {
                let message = format!(
                    "BSON field '{}.{name}' is an unknown field or no boolean.",
                    self.name()
                );
                Err(CommandError::new(code::UNKNOWN_FIELD, message))
            }
            // It has no options.
            (SourceStage::Documents(_), _) => Ok(()),
            (SourceStage::CurrentOp, _) => {
                let message = format!("Unrecognized option '{name}' in $currentOp stage.");
                Err(CommandError::new(code::FAILED_TO_PARSE, message))
            }
        }
    }

    /// The documents.
    pub(super) async fn documents(
        self,
        context: Context<'_>,
        collection: &str,
    ) -> Result<Vec<RawDocumentBuf>> {
        match self {
            SourceStage::CollStats(parts) => {
                let mut row = rawdoc! { "ns": format!("{}.{collection}", context.database) };
                row.append(cstr!("host"), "localhost");
                row.append(cstr!("localTime"), DateTime::now());
                if parts.count {
                    let count = stats::count(context, collection).await?;
                    row.append(cstr!("count"), number_of(count));
                }
                if let Some(scale) = parts.storage {
                    let storage = stats::storage_stats(context, collection, scale).await?;
                    row.append(cstr!("storageStats"), storage);
                }
                Ok(vec![row])
            }
            SourceStage::IndexStats => {
                let Some(info) = indexes::info(context, collection).await? else {
                    return Ok(Vec::new());
                };
                let collections = context.collections();
                let uses = match collections.map(|all| all.collection(collection)) {
                    Some(collection) => collection.index_uses().await?.unwrap_or_default(),
                    None => Vec::new(),
                };
                let described = indexes::describe_all(&info)?.into_iter().map(|spec| {
                    let mut row = RawDocumentBuf::new();
                    let name = spec.get_str("name")?;
                    let uses = uses.iter().find(|index| index.name == name);
                    // An index that was made meanwhile is not counted yet.
                    let (count, since) =
                        uses.map_or((0, DateTime::now()), |uses| (uses.count, uses.since));
                    let count = i64::try_from(count).unwrap_or(i64::MAX);
                    for name in [cstr!("name"), cstr!("key")] {
                        if let Some(value) = spec.get(name.as_str())? {
                            row.append(name, value);
                        }
                    }
                    row.append(cstr!("host"), "localhost");
                    let accesses = rawdoc! { "ops": count, "since": since };
                    row.append(cstr!("accesses"), accesses);
                    row.append(cstr!("spec"), spec);
                    Ok(row)
                });
                described.collect()
            }
            SourceStage::CurrentOp => Ok(context.state.operations.list(context.user())),
            SourceStage::ListLocalSessions | SourceStage::ListSessions => {
                Ok(list_sessions(context))
            }
            SourceStage::Documents(documents) => Ok(documents),
        }
    }
}

/// The sessions of the user.
fn list_sessions(context: Context<'_>) -> Vec<RawDocumentBuf> {
    let sessions = context.state.sessions.list(context.user());
    let described = sessions.into_iter().map(|(id, used)| {
        let mut row = RawDocumentBuf::new();
        row.append(cstr!("_id"), id.describe());
        row.append(cstr!("lastUse"), used);
        if let Some(caller) = context.caller {
            let user = &caller.user;
            row.append(cstr!("user"), format!("{}@{}", user.name, user.database));
        }
        row
    });
    described.collect()
}

/// The documents of an expression that reads none.
fn given(operand: &Bson, variables: &Variables) -> Result<Vec<RawDocumentBuf>> {
    let value = Expr::parse_with(operand, variables)?.evaluate(&RawDocumentBuf::new())?;
    let Some(RawBson::Array(array)) = value else {
        let message = "an array is expected as the operand of $documents";
        return Err(CommandError::new(code::ARRAY_EXPECTED, message));
    };
    let documents = array.into_iter().map(|element| match element? {
        RawBsonRef::Document(document) => Ok(document.to_owned()),
        _ => {
            let message = "each element of the operand of $documents must be an object";
            Err(CommandError::new(code::OBJECT_EXPECTED, message))
        }
    });
    documents.collect()
}
