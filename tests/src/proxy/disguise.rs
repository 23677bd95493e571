//! The changes that disguise the stand-in as another server.

use std::env;

use odm::bson::{Bson, Document, RawDocument, doc};

/// A server as which a proxy disguises the one behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disguise {
    /// MongoDB 7.0: the wire version 21, and no `bulkWrite`.
    Seven,
    /// MongoDB 7.0 with its unfinished `bulkWrite`, which knows fewer options, on connections that were opened before it became the
    /// primary: for these the driver has the wire version of the former member.
    SevenUnfinished,
    /// MongoDB 8.0 with the feature compatibility version 7.0, which refuses `bulkWrite` (`commands/bulk_write.cpp`).
    EightAsSeven,
    /// MongoDB 9.0, which lists the default collation of an index without one (`featureFlagListIndexesAlwaysIncludesSimpleCollation`), says
    /// that null on a dotted path matches an empty array, and knows the validation action `errorAndLog`, which it lists for a collection
    /// named `foreign`.
    Nine,
}

impl Disguise {
    /// The disguise that `ODM_TEST_MONGODB_AS` names, if any: `7.0`, `8.0-fcv-7.0` or `9.0`.
    ///
    /// # Panics
    ///
    /// If no disguise has this name.
    pub fn of_environment() -> Option<Self> {
        let name = env::var("ODM_TEST_MONGODB_AS").ok()?;
        Some(match name.as_str() {
            "7.0" => Disguise::Seven,
            "8.0-fcv-7.0" => Disguise::EightAsSeven,
            "9.0" => Disguise::Nine,
            _ => panic!("ODM_TEST_MONGODB_AS is `7.0`, `8.0-fcv-7.0` or `9.0`, and not `{name}`"),
        })
    }

    /// The answer to a command without the server.
    pub(super) fn answer(self, command: &str, body: &RawDocument) -> Option<Document> {
        if self == Disguise::Nine && command == "aggregate" && asks_for_null(body) {
            let found = vec![doc! { "a": [] }];
            return Some(doc! {
                "ok": 1.0,
                "cursor": { "id": 0_i64, "ns": "admin.$cmd.aggregate", "firstBatch": found },
            });
        }
        let (code, name, message) = match (self, command) {
            (Disguise::Seven, "bulkWrite") => {
                (59, "CommandNotFound", "no such command: 'bulkWrite'")
            }
            (Disguise::SevenUnfinished, "bulkWrite") => (
                40_415,
                "IDLUnknownField",
                "BSON field 'bulkWrite.errorsOnly' is an unknown field.",
            ),
            (Disguise::EightAsSeven, "bulkWrite") => (
                115,
                "CommandNotSupported",
                "BulkWrite may not be run without featureFlagBulkWriteCommand enabled",
            ),
            _ => return None,
        };
        Some(doc! { "ok": 0.0, "errmsg": message, "code": code, "codeName": name })
    }

    /// The changed answer to a command, if it is changed.
    pub(super) fn changed(self, command: &str, mut answer: Document) -> Option<Document> {
        match (self, command) {
            (Disguise::Seven, "hello" | "isMaster" | "ismaster") => {
                answer.insert("maxWireVersion", 21);
            }
            (Disguise::Nine, "listIndexes") => {
                for index in listed(&mut answer) {
                    index
                        .entry("collation".to_owned())
                        .or_insert_with(|| doc! { "locale": "simple" }.into());
                }
            }
            (Disguise::Nine, "listCollections") => {
                for collection in listed(&mut answer) {
                    let is_foreign = collection
                        .get_str("name")
                        .is_ok_and(|name| name == "foreign");
                    if let (true, Ok(options)) =
                        (is_foreign, collection.get_document_mut("options"))
                    {
                        options.insert("validationAction", "errorAndLog");
                    }
                }
            }
            _ => return None,
        }
        Some(answer)
    }
}

/// Whether a pipeline asks how null is compared on a dotted path.
fn asks_for_null(body: &RawDocument) -> bool {
    let body = Document::try_from(body).unwrap_or_default();
    let stages = body.get_array("pipeline").ok();
    let first = stages.and_then(|stages| stages.first());
    first == Some(&doc! { "$documents": [{ "a": [] }] }.into())
}

/// The documents of the first batch of a cursor.
fn listed(answer: &mut Document) -> impl Iterator<Item = &mut Document> {
    let cursor = answer.get_document_mut("cursor");
    let batch = cursor.and_then(|cursor| cursor.get_array_mut("firstBatch"));
    batch
        .into_iter()
        .flatten()
        .filter_map(Bson::as_document_mut)
}
