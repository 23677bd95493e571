//! Raw updates of documents with derived fields: derived fields are right after any change of base data.

use fuzz::{Choices, check};
use odm::{
    Embedded, ErrorKind,
    bson::{Bson, Document, doc},
    prelude::*,
};
use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;

pub(crate) fn runtime() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime starts")
}

/// Its values may have any shape, so that the results of all updates are readable.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "parents", index(fields = "a"))]
struct Parent {
    #[serde(rename = "_id")]
    id: i64,
    #[serde(default)]
    a: Bson,
    #[count(of = "Child")]
    children: i64,
    #[count(of = "Child", filter = positive)]
    positive: i64,
    #[subset(limit = 2, sort = "-n")]
    shown: Subset<ChildLine>,
    #[denormalize(from = "Child.name", via = "Child.parent")]
    names: Vec<String>,
}

fn positive() -> Filter<Child> {
    Filter::raw(doc! { "a": { "$gt": 0 } })
}

#[derive(Debug, Clone, Serialize, Deserialize, Projection)]
#[projection(of = "Child")]
struct ChildLine {
    #[serde(rename = "_id")]
    id: i64,
    n: Option<i64>,
    #[serde(default)]
    a: Bson,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "children")]
struct Child {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent, on_delete = "nullify")]
    parent: Option<Ref<Parent>>,
    #[denormalize(from = "Parent.children")]
    siblings: Option<i64>,
    name: String,
    n: Option<i64>,
    #[serde(default)]
    a: Bson,
    #[embed]
    #[serde(default)]
    links: Vec<Link>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Link {
    #[reference(child, on_delete = "pull")]
    to: Ref<Parent>,
    #[denormalize(from = "Parent.positive")]
    positive: i64,
    #[serde(default)]
    b: Bson,
}

#[derive(Database)]
#[database(name = "family", version = 1)]
struct Family {
    parents: Repository<Parent>,
    children: Repository<Child>,
}

async fn family() -> Family {
    let db = Family::open(Embedded::memory().await.unwrap())
        .await
        .unwrap();
    let parents = (0..3).map(|id| Parent {
        id,
        a: Bson::Int64(id),
        children: 0,
        positive: 0,
        shown: Subset::new(),
        names: Vec::new(),
    });
    db.parents.insert_many(parents).await.unwrap();
    let children = (0..5).map(|id| Child {
        id,
        parent: (id < 4).then(|| Ref::new(id % 3)),
        siblings: None,
        name: format!("child {id}"),
        n: Some(id % 2),
        a: Bson::Int64(id % 2),
        links: vec![Link {
            to: Ref::new(id % 3),
            positive: 0,
            b: Bson::Null,
        }],
    });
    db.children.insert_many(children).await.unwrap();
    db
}

const PATHS: [&str; 22] = [
    "n",
    "n.0",
    "a",
    "a.b",
    "a.0",
    "parent",
    "parent",
    "parent.a",
    "links",
    "links.0",
    "links.0.to",
    "links.$[].to",
    "links.$[x].b",
    "links.to",
    "links.0.b",
    "links.7",
    "name",
    "shown",
    "children",
    "names.0",
    "_id",
    "siblings",
];

fn update(choices: &mut Choices<'_>) -> (Document, Vec<Document>) {
    let operators = [
        "$set",
        "$set",
        "$set",
        "$unset",
        "$inc",
        "$mul",
        "$min",
        "$max",
        "$push",
        "$addToSet",
        "$pop",
        "$pull",
        "$pullAll",
        "$rename",
        "$currentDate",
        "$setOnInsert",
    ];
    let mut update = Document::new();
    for _ in 0..=choices.below(2) {
        let operator = choices.one_of(&operators);
        let path = choices.one_of(&PATHS);
        let id = Bson::Int64(choices.below(4) as i64);
        let value = match choices.below(7) {
            0 => id,
            1 => Bson::Array(vec![id, Bson::Int32(1)]),
            2 => doc! { "to": id, "positive": 9 }.into(),
            3 => Bson::Array(vec![doc! { "to": id }.into(), doc! { "b": 1 }.into()]),
            4 => Bson::Null,
            5 => Bson::String(choices.one_of(&PATHS).to_owned()),
            _ => choices.value(2),
        };
        update.insert(operator, doc! { path: value });
    }
    let filters = match choices.below(4) {
        0 => vec![doc! { "x.to": choices.below(3) as i64 }],
        _ => Vec::new(),
    };
    (update, filters)
}

#[test]
fn a_raw_update_of_any_shape_leaves_no_derived_field_wrong() {
    let runtime = runtime();
    check(300, |bytes| runtime.block_on(run(&mut Choices::new(bytes))));
}

async fn run(choices: &mut Choices<'_>) {
    let db = family().await;
    for _ in 0..6 {
        if choices.is_empty() {
            break;
        }
        let result = match choices.below(5) {
            0 => db.parents.delete(choices.below(3) as i64).await.map(drop),
            1 => {
                let (update, filters) = update(choices);
                let all = db.parents.update_where(Filter::all());
                all.raw_with(update, filters).await.map(drop)
            }
            2 => {
                let (update, filters) = update(choices);
                let filter = Filter::raw(choices.filter(1));
                let some = db.children.update_where(filter).raw_with(update, filters);
                some.upsert().await.map(drop)
            }
            _ => {
                let (update, filters) = update(choices);
                let id = choices.below(5) as i64;
                db.children
                    .update(id)
                    .raw_with(update, filters)
                    .await
                    .map(drop)
            }
        };
        if let Err(error) = result {
            let is_of_the_library = matches!(
                error.kind(),
                ErrorKind::Corrupt | ErrorKind::Io | ErrorKind::Closed | ErrorKind::Schema
            );
            assert!(!is_of_the_library, "{error}");
        }
        assert_eq!(db.audit().await.unwrap(), []);
    }
}
