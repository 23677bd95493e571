//! A screen that shows how a program uses a database: its models and calls as they stand in the source, the results and costs of the calls,
//! and their changes of the stored documents.

mod diff;
mod source;
mod value;

use std::{collections::HashMap, fmt::Write as _, future::Future, ops::ControlFlow};

use odm::{
    Error, ErrorKind, Finding,
    bson::{Bson, Document, error::Error as BsonError, serialize_to_raw_document_buf},
    measure,
    store::{
        Cost,
        contract::{Find, Store},
        embedded::Embedded,
    },
};
use serde::Serialize;

/// How many columns a screen has.
pub const COLUMNS: usize = 100;
/// The numbers of documents of a collection, and of rows of a result, on a screen.
const SHOWN: usize = 2;

/// A text for a terminal, to which every step adds.
#[derive(Debug)]
pub struct Screen {
    store: Embedded,
    is_coloured: bool,
    text: String,
    /// The collections whose changes are shown.
    collections: Vec<&'static str>,
    steps: usize,
    /// The documents that are on the screen.
    shown: Vec<Document>,
}

/// The look of a line on a terminal with colours.
#[derive(Debug, Clone, Copy)]
enum Look {
    Plain,
    Title,
    Dim,
    Code,
    Removed,
    Added,
}

/// Awaits a query, and shows its code, its cost and its result. Its value is the result.
macro_rules! query {
    ($screen:ident, $what:expr, $query:expr $(,)?) => {
        $screen
            .query($what, stringify!($query), async { $query.await })
            .await?
    };
}
pub(crate) use query;

/// Awaits a write, and shows its code, its cost and its changes of the stored documents. Its value is the result of the write.
macro_rules! change {
    ($screen:ident, $what:expr, $change:expr $(,)?) => {
        $screen
            .change($what, stringify!($change), async { $change.await })
            .await?
    };
}
pub(crate) use change;

/// Awaits a write that must fail, and shows its code and its error.
macro_rules! refused {
    ($screen:ident, $what:expr, $change:expr $(,)?) => {
        $screen.refused($what, stringify!($change), $change.await)
    };
}
pub(crate) use refused;

/// The stored documents of a collection, in their order, each with the text of its `_id`.
type Stored = Vec<(String, Document)>;

impl Screen {
    /// A screen for operations on a store.
    pub fn new(store: Embedded, is_coloured: bool) -> Self {
        Screen {
            store,
            is_coloured,
            text: String::new(),
            collections: Vec::new(),
            steps: 0,
            shown: Vec::new(),
        }
    }

    /// Returns the store.
    pub fn store(&self) -> Embedded {
        self.store.clone()
    }

    /// Returns the text of the screen.
    pub fn into_text(self) -> String {
        self.text
    }

    /// Begins a part of the screen.
    pub fn title(&mut self, left: &str, right: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.row(Look::Title, left, right);
    }

    /// Shows models as in the source, but with their relations alone: in a model with relations, fields without an attribute are left out.
    pub fn model(&mut self, source: &str, structs: &[&str]) {
        self.line(Look::Plain, "");
        for name in structs {
            for line in source::model(source, name, COLUMNS - 2) {
                self.line(Look::Code, &format!("  {line}"));
            }
        }
    }

    /// Shows the first document of each collection, and from now on the changes in them.
    pub async fn stored(
        &mut self,
        collections: impl IntoIterator<Item = &'static str>,
    ) -> odm::Result<()> {
        for collection in collections {
            self.watch([collection]);
            let stored = self.read(collection).await?;
            self.line(Look::Plain, "");
            let count = count(stored.len() as u64, "document", "documents");
            self.row(Look::Dim, &format!("stored in `{collection}`"), &count);
            if let Some((_, first)) = stored.into_iter().next() {
                self.values(&[first.into()]);
            }
        }
        Ok(())
    }

    /// Shows from now on the changes in some collections.
    pub fn watch(&mut self, collections: impl IntoIterator<Item = &'static str>) {
        self.collections.extend(collections);
    }

    /// Shows a sentence.
    pub fn text(&mut self, text: &str) {
        for line in value::wrap(text, COLUMNS - 2) {
            self.line(Look::Plain, &format!("  {line}"));
        }
    }

    /// Shows the findings of an audit.
    pub fn audit(&mut self, findings: &[Finding]) {
        self.line(Look::Plain, "");
        let found = count(findings.len() as u64, "finding", "findings");
        match findings.is_empty() {
            true => self.line(Look::Added, &format!("audit: {found}")),
            false => self.line(Look::Removed, &format!("audit: {found}")),
        }
        for finding in findings {
            self.text(&finding.to_string());
        }
    }

    /// The expansion of [`query!`].
    pub(crate) async fn query<T: Serialize>(
        &mut self,
        what: &str,
        code: &str,
        query: impl Future<Output = odm::Result<T>>,
    ) -> odm::Result<T> {
        let (result, cost) = measure(query).await;
        let found = result?;
        self.step(what, code, &short(cost));
        match to_bson(&found)? {
            Bson::Array(rows) => self.values(&rows),
            value => self.values(&[value]),
        }
        Ok(found)
    }

    /// The expansion of [`change!`].
    pub(crate) async fn change<T>(
        &mut self,
        what: &str,
        code: &str,
        change: impl Future<Output = odm::Result<T>>,
    ) -> odm::Result<T> {
        let mut before = Vec::new();
        for collection in self.collections.clone() {
            before.push((collection, self.read(collection).await?));
        }
        let (result, cost) = measure(change).await;
        let result = result?;
        self.step(what, code, &short(cost));
        for (collection, before) in before {
            let after = self.read(collection).await?;
            self.changes(collection, &before, &after);
        }
        Ok(result)
    }

    /// The expansion of [`refused!`].
    pub(crate) fn refused<T>(&mut self, what: &str, code: &str, result: odm::Result<T>) {
        self.step(what, code, "refused");
        let (look, text) = match &result {
            Ok(_) => (
                Look::Removed,
                "it succeeded, and should not have".to_owned(),
            ),
            Err(error) => (Look::Plain, error.to_string()),
        };
        for line in value::wrap(&text, COLUMNS - 2) {
            self.line(look, &format!("  {line}"));
        }
    }

    /// Shows the changes in a collection.
    fn changes(&mut self, collection: &str, before: &Stored, after: &Stored) {
        let changes = changed(before, after);
        if changes.is_empty() {
            return;
        }
        let documents = count(changes.len() as u64, "document", "documents");
        self.row(
            Look::Dim,
            &format!("  changed in `{collection}`"),
            &documents,
        );
        for &(before, after) in changes.iter().take(SHOWN) {
            for line in diff::documents(before, after, COLUMNS - 4) {
                match line {
                    diff::Line::Same(text) => self.line(Look::Plain, &format!("    {text}")),
                    diff::Line::Removed(text) => self.line(Look::Removed, &format!("  - {text}")),
                    diff::Line::Added(text) => self.line(Look::Added, &format!("  + {text}")),
                }
            }
        }
        self.more(changes.len());
    }

    /// Shows the head of a step: its title, its cost and its code.
    fn step(&mut self, what: &str, code: &str, cost: &str) {
        self.steps += 1;
        self.line(Look::Plain, "");
        self.row(Look::Title, &format!("{}. {what}", self.steps), cost);
        for line in source::call(code, COLUMNS - 2) {
            self.line(Look::Code, &format!("  {line}"));
        }
    }

    /// Shows the first of some values.
    fn values(&mut self, values: &[Bson]) {
        for value in values.iter().take(SHOWN) {
            let value = self.unseen(value);
            for line in value::lines(&value, COLUMNS - 2) {
                self.line(Look::Plain, &format!("  {line}"));
            }
        }
        self.more(values.len());
    }

    /// Leaves out of a document, and of the documents in a row of a join, the fields that the screen already shows.
    fn unseen(&mut self, value: &Bson) -> Bson {
        match value {
            Bson::Document(document) => {
                let is_part = |shown: &&Document| {
                    shown
                        .iter()
                        .all(|(name, value)| document.get(name) == Some(value))
                };
                let shown = self
                    .shown
                    .iter()
                    .filter(is_part)
                    .max_by_key(|shown| shown.len());
                let shown = shown.cloned();
                self.shown.push(document.clone());
                match shown {
                    Some(shown) => value::without(document, &shown).into(),
                    None => value.clone(),
                }
            }
            Bson::Array(elements) => {
                let mut elements = elements.clone();
                for element in elements.iter_mut().take(value::ELEMENTS) {
                    *element = self.unseen(element);
                }
                elements.into()
            }
            other => other.clone(),
        }
    }

    /// Says how many of `all` are left out.
    fn more(&mut self, all: usize) {
        if all > SHOWN {
            self.line(Look::Dim, &format!("  .. and {} more", all - SHOWN));
        }
    }

    async fn read(&self, collection: &str) -> odm::Result<Stored> {
        let find = Find {
            collection: collection.to_owned(),
            ..Find::default()
        };
        let mut stored = Vec::new();
        self.store
            .reader()?
            .find(&find, &mut |_, document| {
                let document = Document::try_from(document).map_err(unreadable)?;
                stored.push((format!("{:?}", document.get("_id")), document));
                Ok(ControlFlow::Continue(()))
            })
            .await?;
        Ok(stored)
    }

    /// Shows a line, with a text at its right end.
    fn row(&mut self, look: Look, left: &str, right: &str) {
        if right.is_empty() {
            return self.line(look, left);
        }
        let used = left.chars().count() + right.chars().count();
        let gap = COLUMNS.saturating_sub(used).max(2);
        let left = self.painted(look, left);
        let right = self.painted(Look::Dim, right);
        let _ = writeln!(self.text, "{left}{:gap$}{right}", "");
    }

    fn line(&mut self, look: Look, line: &str) {
        let line = self.painted(look, line);
        let _ = writeln!(self.text, "{line}");
    }

    fn painted(&self, look: Look, text: &str) -> String {
        let code = match look {
            Look::Plain => return text.to_owned(),
            _ if !self.is_coloured || text.is_empty() => return text.to_owned(),
            Look::Title => "1",
            Look::Dim => "2",
            Look::Code => "36",
            Look::Removed => "31",
            Look::Added => "32",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// The documents that differ, before and after.
fn changed<'a>(
    before: &'a Stored,
    after: &'a Stored,
) -> Vec<(Option<&'a Document>, Option<&'a Document>)> {
    let by_id = |stored: &'a Stored| -> HashMap<&'a str, &'a Document> {
        let pairs = stored.iter().map(|(id, document)| (id.as_str(), document));
        pairs.collect()
    };
    let (old, new) = (by_id(before), by_id(after));
    let is_gone = |(id, _): &&(String, Document)| !new.contains_key(id.as_str());
    let gone = before.iter().filter(is_gone);
    let gone = gone.map(|(_, document)| (Some(document), None));
    let others = after.iter().filter_map(|(id, document)| {
        let before = old.get(id.as_str()).copied();
        (before != Some(document)).then_some((before, Some(document)))
    });
    gone.chain(others).collect()
}

/// A value as BSON, in the form in which it would be stored.
fn to_bson(value: &impl Serialize) -> odm::Result<Bson> {
    #[derive(Serialize)]
    struct Of<T> {
        value: T,
    }
    let document = serialize_to_raw_document_buf(&Of { value }).map_err(unreadable)?;
    let mut document = Document::try_from(&*document).map_err(unreadable)?;
    Ok(document.remove("value").unwrap_or(Bson::Null))
}

fn unreadable(error: BsonError) -> Error {
    Error::new(ErrorKind::Decode, "value cannot be shown as BSON").with_source(error)
}

/// A cost in a few words.
fn short(cost: Cost) -> String {
    let parts = [
        (cost.queries, "query", "queries"),
        (cost.keys_examined, "key", "keys"),
        (cost.documents_examined, "read", "read"),
        (cost.documents_written, "written", "written"),
    ];
    let parts = parts.into_iter().filter(|&(n, ..)| n > 0);
    let parts: Vec<String> = parts.map(|(n, one, many)| count(n, one, many)).collect();
    parts.join("  ")
}

/// A number with its noun.
fn count(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
