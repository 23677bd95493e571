//! Stages that make the documents of a pipeline: what the server knows about collections, indexes and itself.

use odm::bson::{Bson, DateTime, Document, RawDocumentBuf, raw::cstr, rawdoc};

use crate::{
    command::{Context, collections, count::number_of, indexes},
    error::{CommandError, Result, code},
};

/// A stage that makes documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SourceStage {
    /// The numbers of a collection.
    CollStats,
    /// Its indexes. How often they were used is not known.
    IndexStats,
    /// The running commands.
    CurrentOp,
}

impl SourceStage {
    /// Whether a name is that of such a stage.
    fn by_name(name: &str) -> Option<Self> {
        match name {
            "$collStats" => Some(SourceStage::CollStats),
            "$indexStats" => Some(SourceStage::IndexStats),
            "$currentOp" => Some(SourceStage::CurrentOp),
            _ => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            SourceStage::CollStats => "$collStats",
            SourceStage::IndexStats => "$indexStats",
            SourceStage::CurrentOp => "$currentOp",
        }
    }

    /// Whether the pipeline is one of a database, and not of a collection.
    pub(super) fn is_of_database(self) -> bool {
        self == SourceStage::CurrentOp
    }

    /// The stage with which a pipeline begins, if it makes documents.
    pub(super) fn of(stages: &[Document]) -> Result<Option<Self>> {
        let first = stages.first().and_then(|stage| stage.iter().next());
        let Some((name, operand)) = first else {
            return Ok(None);
        };
        let source = SourceStage::by_name(name);
        source.map(|source| source.check(operand)).transpose()?;
        Ok(source)
    }

    /// Checks what the stage is asked.
    fn check(self, operand: &Bson) -> Result<()> {
        let Bson::Document(options) = operand else {
            let message = "the options of a stage that makes documents must be an object";
            return Err(CommandError::new(code::FAILED_TO_PARSE, message));
        };
        options
            .iter()
            .try_for_each(|(name, value)| self.check_option(name, value))
    }

    fn check_option(self, name: &str, value: &Bson) -> Result<()> {
        let not_supported = |stage: &str| {
            let message = format!("'{stage}.{name}' is not supported by this server");
            Err(CommandError::new(code::NOT_IMPLEMENTED, message))
        };
        match (self, name) {
            (SourceStage::IndexStats, _) | (SourceStage::CollStats, "storageStats" | "count") => {
                Ok(())
            }
            (SourceStage::CollStats, _) => not_supported("$collStats"),
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
            SourceStage::CollStats => {
                let stats = collections::stats(context, collection).await?;
                let mut row = rawdoc! { "ns": format!("{}.{collection}", context.database) };
                row.append(cstr!("host"), "localhost");
                row.append(cstr!("localTime"), DateTime::now());
                if let Some(count) = stats.get("count")? {
                    row.append(cstr!("count"), count);
                }
                row.append(cstr!("storageStats"), stats);
                Ok(vec![row])
            }
            SourceStage::IndexStats => {
                let Some(info) = indexes::info(context, collection).await? else {
                    return Ok(Vec::new());
                };
                let since = DateTime::now();
                let described = indexes::describe_all(&info)?.into_iter().map(|spec| {
                    let mut row = RawDocumentBuf::new();
                    for name in [cstr!("name"), cstr!("key")] {
                        if let Some(value) = spec.get(name.as_str())? {
                            row.append(name, value);
                        }
                    }
                    row.append(cstr!("host"), "localhost");
                    let accesses = rawdoc! { "ops": number_of(0), "since": since };
                    row.append(cstr!("accesses"), accesses);
                    row.append(cstr!("spec"), spec);
                    Ok(row)
                });
                described.collect()
            }
            SourceStage::CurrentOp => Ok(context.state.operations.list(context.user())),
        }
    }
}
