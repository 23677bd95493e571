//! A reference that the library cannot see is never written.

use std::collections::BTreeMap;

use odm::{ErrorKind, prelude::*};
use serde::{Deserialize, Serialize};
use tests::on_every_store;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
}

/// A type that the library does not know, with a reference in the forms in which serde writes one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Hidden {
    Nothing,
    Bare(Ref<Part>),
    Pair(Ref<Part>, i32),
    Named { within: Option<Vec<Ref<Part>>> },
    Map(BTreeMap<String, Ref<Part>>),
}

fn hidden() -> [Hidden; 4] {
    let part = || Ref::new(7);
    [
        Hidden::Bare(part()),
        Hidden::Pair(part(), 1),
        Hidden::Named { within: Some(vec![part()]) },
        Hidden::Map(BTreeMap::from([("a.b".to_owned(), part())])),
    ]
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Line {
    #[opaque]
    hidden: Hidden,
    #[reference(child)]
    part: Option<Ref<Part>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Note {
    #[opaque]
    hidden: Hidden,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
enum Way {
    Direct(#[reference(child)] Ref<Part>),
    Line {
        #[embed]
        line: Line,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "holders")]
struct Holder {
    #[serde(rename = "_id")]
    id: i64,
    #[opaque]
    hidden: Hidden,
    #[embed]
    lines: Vec<Line>,
    #[embed]
    by_name: BTreeMap<String, BTreeMap<String, Note>>,
    #[embed]
    #[serde(flatten)]
    line: Option<Flat>,
    #[embed]
    way: Option<Way>,
    #[split(collection = "cold", key = "holder", optional)]
    cold: Cold<Line>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Flat {
    #[reference(child)]
    flat: Ref<Part>,
}

#[derive(Database)]
#[database(name = "hidden", version = 1)]
struct Holders {
    parts: Repository<Part>,
    holders: Repository<Holder>,
}

fn holder(id: i64) -> Holder {
    Holder {
        id,
        hidden: Hidden::Nothing,
        lines: Vec::new(),
        by_name: BTreeMap::new(),
        line: None,
        way: None,
        cold: Cold::unloaded(),
    }
}

fn line(hidden: Hidden) -> Line {
    Line { hidden, part: Some(Ref::new(7)) }
}

fn named<T>(value: T) -> BTreeMap<String, T> {
    BTreeMap::from([("x".to_owned(), value)])
}

/// Holders with one line in each place.
fn places(hidden: &Hidden) -> Vec<(&'static str, Holder)> {
    let line = || line(hidden.clone());
    vec![
        ("lines.hidden", Holder { lines: vec![line()], ..holder(1) }),
        (
            "by_name.x.x.hidden",
            Holder { by_name: named(named(Note { hidden: hidden.clone() })), ..holder(1) },
        ),
        ("way.Line.line.hidden", Holder { way: Some(Way::Line { line: line() }), ..holder(1) }),
        ("cold.hidden", Holder { cold: Cold::new(line()), ..holder(1) }),
    ]
}

#[track_caller]
fn is_refused<T>(result: odm::Result<T>, path: &str) {
    let error = result.map(drop).expect_err("a hidden reference is refused");
    assert_eq!(error.kind(), ErrorKind::Encode, "{error}");
    assert!(error.to_string().contains(&format!("`{path}")), "{error}");
}

on_every_store! {
    async fn a_reference_in_an_opaque_value_is_refused_by_every_write(store: AnyStore) {
        let db = Holders::open(store).await.unwrap();
        let fields = Holder::fields();
        db.parts.insert(Part { id: 7 }).await.unwrap();
        db.holders.insert(holder(1)).await.unwrap();
        for hidden in hidden() {
            let bad = Holder { hidden: hidden.clone(), ..holder(1) };
            is_refused(db.holders.insert(bad.clone()).await, "hidden");
            is_refused(db.holders.insert_many([holder(2), bad.clone()]).await, "hidden");
            is_refused(db.holders.replace(bad.clone()).await, "hidden");
            is_refused(db.holders.upsert(bad.clone()).await, "hidden");
            is_refused(db.holders.modify(1, |it| it.hidden = hidden.clone()).await, "hidden");
            is_refused(db.holders.update(1).set(fields.hidden, hidden.clone()).await, "hidden");
            let change = odm::query::Update::new().push(fields.lines, line(hidden.clone()));
            is_refused(db.holders.update(1).with(change).await, "lines.hidden");
            let lines = [line(Hidden::Nothing), line(hidden.clone())];
            is_refused(db.holders.update(1).push_all(fields.lines, lines.clone()).await, "lines.hidden");
            is_refused(db.holders.update(1).set(fields.lines, lines.to_vec()).await, "lines.hidden");
            let all = db.holders.update_where(fields.id.eq(1));
            is_refused(all.add_to_set(fields.lines, line(hidden.clone())).await, "lines.hidden");
            is_refused(db.holders.update(1).set(fields.way.line.line.hidden, hidden.clone()).plan().await, "way.Line.line.hidden");
            for (path, bad) in places(&hidden) {
                is_refused(db.holders.replace(bad).await, path);
            }
        }
        assert_eq!(db.holders.all().await.unwrap(), [holder(1)]);
    }

    async fn references_beside_opaque_values_are_written(store: AnyStore) {
        let db = Holders::open(store).await.unwrap();
        let fields = Holder::fields();
        db.parts.insert(Part { id: 7 }).await.unwrap();
        for (_, good) in places(&Hidden::Nothing) {
            db.holders.upsert(good).await.unwrap();
        }
        let direct = Holder {
            way: Some(Way::Direct(Ref::new(7))),
            line: Some(Flat { flat: Ref::new(7) }),
            ..holder(1)
        };
        db.holders.upsert(direct).await.unwrap();
        db.holders.update(1).push(fields.lines, line(Hidden::Nothing)).await.unwrap();
        let error = db.holders.update(1).set(fields.line.flat, Ref::new(8)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DanglingReference);
    }
}
