//! The slow commands of a server, which `getLog` shows.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use odm::bson::{
    DateTime, RawArray, RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf,
    raw::{CString, cstr},
    rawdoc,
};

/// How many of them are kept.
const KEPT: usize = 1_000;

/// The bytes and the nesting that are kept of the shape of a command.
const MAX_SHAPE: usize = 2 << 10;
const MAX_DEPTH: usize = 8;

/// The text in place of a value, which is not kept.
const VALUE: &str = "?";

/// Parts of a command that tell nothing about its work.
const LEFT_OUT: [&str; 6] = [
    "lsid",
    "$clusterTime",
    "$readPreference",
    "documents",
    "payload",
    "options",
];

/// The last slow commands.
#[derive(Debug)]
pub(crate) struct SlowOperations {
    limit: Duration,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    /// Each with its database.
    lines: VecDeque<(String, RawDocumentBuf)>,
    total: u64,
}

/// A command that has ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EndedCommand<'a> {
    pub(crate) connection: i32,
    pub(crate) address: &'a str,
    pub(crate) database: &'a str,
    pub(crate) body: &'a RawDocument,
    pub(crate) reply: &'a RawDocument,
    pub(crate) time: Duration,
}

impl SlowOperations {
    pub(super) fn new(limit: Duration) -> Self {
        SlowOperations {
            limit,
            kept: Mutex::default(),
        }
    }

    fn with<T>(&self, run: impl FnOnce(&mut Kept) -> T) -> T {
        run(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keeps a command if it was slow.
    pub(crate) fn note(&self, ended: EndedCommand<'_>) {
        if ended.time < self.limit || is_waiting(ended.reply) {
            return;
        }
        let line = (ended.database.to_owned(), ended.describe());
        self.with(|kept| {
            kept.total = kept.total.saturating_add(1);
            if kept.lines.len() >= KEPT {
                kept.lines.pop_front();
            }
            kept.lines.push_back(line);
        });
    }

    /// The slow commands in a database, or in all of them, from the oldest on, and how many there have been in all.
    pub(crate) fn list(&self, database: Option<&str>) -> (Vec<RawDocumentBuf>, u64) {
        self.with(|kept| {
            let lines = kept.lines.iter();
            let of = lines.filter(|(of, _)| database.is_none_or(|database| database == of));
            (of.map(|(_, line)| line.clone()).collect(), kept.total)
        })
    }
}

/// Whether a reply is that of a change stream, whose reader waits for changes.
fn is_waiting(reply: &RawDocument) -> bool {
    let cursor = reply.get_document("cursor");
    cursor.is_ok_and(|cursor| matches!(cursor.get("postBatchResumeToken"), Ok(Some(_))))
}

impl EndedCommand<'_> {
    /// The line of the command, in the form of MongoDB's log.
    fn describe(&self) -> RawDocumentBuf {
        let mut shape = RawDocumentBuf::new();
        let mut collection = "$cmd";
        for (at, element) in self.body.iter().enumerate() {
            let Ok((name, value)) = element else { break };
            if LEFT_OUT.contains(&name.as_str()) {
                continue;
            }
            if shape.as_bytes().len() > MAX_SHAPE {
                shape.append(cstr!("$truncated"), true);
                break;
            }
            match value {
                // The names of the collection and of the database are no values.
                RawBsonRef::String(text) if at == 0 || name.as_str() == "$db" => {
                    if at == 0 {
                        collection = text;
                    }
                    shape.append(name, text);
                }
                value => shape.append(name, shape_of(value, 0)),
            }
        }
        let milliseconds = i64::try_from(self.time.as_millis()).unwrap_or(i64::MAX);
        let mut attributes = rawdoc! { "type": "command" };
        attributes.append(cstr!("ns"), format!("{}.{collection}", self.database));
        attributes.append(cstr!("client"), self.address);
        attributes.append(cstr!("command"), shape);
        if let Ok(code) = self.reply.get_i32("code") {
            attributes.append(cstr!("errCode"), code);
        }
        attributes.append(cstr!("reslen"), self.reply.as_bytes().len() as i64);
        attributes.append(cstr!("durationMillis"), milliseconds);
        let mut line = rawdoc! { "t": DateTime::now(), "s": "I", "c": "COMMAND", "id": 51803 };
        line.append(cstr!("ctx"), format!("conn{}", self.connection));
        line.append(cstr!("msg"), "Slow query");
        line.append(cstr!("attr"), attributes);
        line
    }
}

/// A value without its scalars.
fn shape_of(value: RawBsonRef<'_>, depth: usize) -> RawBson {
    match value {
        RawBsonRef::Document(document) if depth < MAX_DEPTH => {
            RawBson::Document(shape_of_document(document, depth))
        }
        RawBsonRef::Array(array) if depth < MAX_DEPTH => {
            RawBson::Array(shape_of_array(array, depth))
        }
        _ => RawBson::String(VALUE.to_owned()),
    }
}

fn shape_of_document(document: &RawDocument, depth: usize) -> RawDocumentBuf {
    let mut shape = RawDocumentBuf::new();
    for element in document {
        let Ok((name, value)) = element else { break };
        if shape.as_bytes().len() > MAX_SHAPE {
            break;
        }
        if let Ok(name) = CString::try_from(name.as_str()) {
            shape.append(name, shape_of(value, depth.saturating_add(1)));
        }
    }
    shape
}

/// The shape of a list, in which equal shapes that follow each other are one.
fn shape_of_array(array: &RawArray, depth: usize) -> RawArrayBuf {
    let mut shape = RawArrayBuf::new();
    let mut last = None;
    for value in array {
        let Ok(value) = value else { break };
        if shape.as_bytes().len() > MAX_SHAPE {
            break;
        }
        let next = shape_of(value, depth.saturating_add(1));
        if last.as_ref() != Some(&next) {
            shape.push(next.clone());
            last = Some(next);
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use odm::bson::rawdoc;

    use super::*;

    fn ended<'a>(body: &'a RawDocument, reply: &'a RawDocument, time: u64) -> EndedCommand<'a> {
        EndedCommand {
            connection: 1,
            address: "here",
            database: "shop",
            body,
            reply,
            time: Duration::from_millis(time),
        }
    }

    #[test]
    fn the_last_slow_commands_are_kept_without_values() {
        let slow = SlowOperations::new(Duration::from_millis(100));
        let reply = rawdoc! { "ok": 1.0 };
        let body = rawdoc! {
            "find": "parts", "filter": { "name": "secret", "qty": { "$in": [1, 2, 3] } }, "lsid": { "id": 1 }, "$db": "shop",
        };
        slow.note(ended(&body, &reply, 99));
        assert_eq!(slow.list(None).1, 0);
        for _ in 0..KEPT + 5 {
            slow.note(ended(&body, &reply, 100));
        }
        let (lines, total) = slow.list(Some("shop"));
        assert_eq!((lines.len(), total), (KEPT, KEPT as u64 + 5));
        let attributes = lines[0].get_document("attr").unwrap();
        assert_eq!(attributes.get_str("ns").unwrap(), "shop.parts");
        assert_eq!(attributes.get_i64("durationMillis").unwrap(), 100);
        let shape = rawdoc! { "find": "parts", "filter": { "name": "?", "qty": { "$in": ["?"] } }, "$db": "shop" };
        assert_eq!(attributes.get_document("command").unwrap(), &*shape);
        assert!(slow.list(Some("other")).0.is_empty());
    }

    #[test]
    fn a_large_command_is_kept_in_part_and_one_that_waits_for_changes_not_at_all() {
        let slow = SlowOperations::new(Duration::ZERO);
        let reply = rawdoc! { "cursor": { "postBatchResumeToken": {} } };
        slow.note(ended(&rawdoc! { "getMore": 1_i64 }, &reply, 1_000));
        assert_eq!(slow.list(None).1, 0);
        let mut filter = RawDocumentBuf::new();
        for number in 0..10_000 {
            filter.append(CString::try_from(format!("field{number}")).unwrap(), 1);
        }
        slow.note(ended(
            &rawdoc! { "find": "parts", "filter": filter },
            &rawdoc! {},
            1,
        ));
        let (lines, _) = slow.list(None);
        assert!(lines[0].as_bytes().len() < 2 * MAX_SHAPE);
    }
}
