//! A typed path is the stored path, with any attributes of serde.

use odm::{
    bson::{Document, doc},
    prelude::*,
};
use serde::{Deserialize, Serialize};
use tests::{on_embedded_stores, on_every_store, stored};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
#[serde(rename_all = "SCREAMING-KEBAB-CASE")]
struct Inner {
    first_value: i32,
    #[serde(rename = "other")]
    second_value: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Audit {
    #[serde(rename = "by")]
    author: String,
    #[embed]
    #[serde(flatten)]
    inner: Inner,
}

/// `{ "Card": { .. } }`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
enum External {
    Nothing,
    Card {
        number: String,
        #[serde(rename = "exp")]
        expires: i32,
    },
    #[serde(rename = "bank")]
    BankTransfer(#[embed] Inner),
}

/// `{ "type": "circle", .. }`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
enum Internal {
    Circle { the_radius: i32 },
    Square(#[embed] Inner),
    Point,
}

/// `{ "t": "A", "c": { .. } }`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    Number { value: i32 },
    Words(Vec<String>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
#[serde(untagged)]
enum Untagged {
    Pair { left: i32, right: i32 },
    Text { text: String },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Tree {
    label: String,
    #[embed]
    child: Option<Box<Tree>>,
    #[embed]
    others: Vec<Tree>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[serde(rename_all = "camelCase")]
#[document(collection = "forms", index(fields = "long_name, -audit.inner.second_value"))]
struct Form {
    #[serde(rename = "_id")]
    id: i64,
    #[index]
    long_name: String,
    #[serde(rename = "x")]
    renamed_field: i32,
    #[embed]
    #[serde(flatten)]
    audit: Audit,
    #[embed]
    external: External,
    #[embed]
    internal: Internal,
    #[embed]
    adjacent: Option<Adjacent>,
    #[embed]
    untagged: Untagged,
    #[embed]
    a_tree: Tree,
    #[serde(skip)]
    not_stored: i32,
    #[serde(default)]
    new_field: i32,
}

#[derive(Database)]
#[database(name = "forms", version = 1)]
struct Forms {
    forms: Repository<Form>,
}

fn leaf(label: &str) -> Tree {
    Tree { label: label.into(), child: None, others: Vec::new() }
}

fn form(id: i64) -> Form {
    Form {
        id,
        long_name: "n".into(),
        renamed_field: 2,
        audit: Audit { author: "me".into(), inner: Inner { first_value: 3, second_value: 4 } },
        external: External::Card { number: "1234".into(), expires: 2030 },
        internal: Internal::Circle { the_radius: 5 },
        adjacent: Some(Adjacent::Number { value: 6 }),
        untagged: Untagged::Pair { left: 7, right: 8 },
        a_tree: Tree {
            child: Some(Box::new(Tree { child: Some(Box::new(leaf("c"))), ..leaf("b") })),
            others: vec![leaf("d")],
            ..leaf("a")
        },
        not_stored: 0,
        new_field: 9,
    }
}

fn second() -> Form {
    Form {
        external: External::BankTransfer(Inner { first_value: 30, second_value: 40 }),
        internal: Internal::Square(Inner { first_value: 50, second_value: 60 }),
        adjacent: Some(Adjacent::Words(vec!["w".into()])),
        untagged: Untagged::Text { text: "t".into() },
        ..form(2)
    }
}

fn third() -> Form {
    Form { external: External::Nothing, internal: Internal::Point, adjacent: None, ..form(3) }
}

on_every_store! {
    async fn a_document_is_stored_as_serde_says(store: AnyStore) {
        let db = Forms::open(store.clone()).await.unwrap();
        let forms = [form(1), second(), third()];
        db.forms.insert_many(forms.clone()).await.unwrap();
        assert_eq!(db.forms.all().await.unwrap(), forms);
        let first = Document::try_from(&stored(&store, "forms").await[0]).unwrap();
        let expected = doc! {
            "_id": 1_i64,
            "longName": "n",
            "x": 2,
            "by": "me",
            "FIRST-VALUE": 3,
            "other": 4,
            "external": { "Card": { "number": "1234", "exp": 2030 } },
            "internal": { "type": "circle", "theRadius": 5 },
            "adjacent": { "t": "Number", "c": { "value": 6 } },
            "untagged": { "left": 7, "right": 8 },
            "aTree": {
                "label": "a",
                "child": {
                    "label": "b",
                    "child": { "label": "c", "child": null, "others": [] },
                    "others": [],
                },
                "others": [{ "label": "d", "child": null, "others": [] }],
            },
            "newField": 9,
        };
        assert_eq!(first, expected);
    }

    async fn a_typed_path_finds_what_serde_stored(store: AnyStore) {
        let db = Forms::open(store).await.unwrap();
        db.forms.insert_many([form(1), second(), third()]).await.unwrap();
        let form = Form::fields();
        let cases: Vec<(Filter<Form>, &[i64])> = vec![
            (form.long_name.eq("n"), &[1, 2, 3]),
            (form.renamed_field.eq(2), &[1, 2, 3]),
            (form.audit.author.eq("me"), &[1, 2, 3]),
            (form.audit.inner.first_value.eq(3), &[1, 2, 3]),
            (form.audit.inner.second_value.eq(4), &[1, 2, 3]),
            (form.external.card.number.eq("1234"), &[1]),
            (form.external.card.expires.gt(2029), &[1]),
            (form.external.bank_transfer.second_value.eq(40), &[2]),
            (form.external.bank_transfer.exists(true), &[2]),
            (form.internal.r#type.eq("circle"), &[1]),
            (form.internal.circle.the_radius.eq(5), &[1]),
            (form.internal.square.first_value.eq(50), &[2]),
            (form.adjacent.t.eq("Words"), &[2]),
            (form.adjacent.number.value.eq(6), &[1]),
            (form.adjacent.is_null(), &[3]),
            (form.untagged.pair.left.eq(7), &[1, 3]),
            (form.untagged.text.text.eq("t"), &[2]),
            (form.a_tree.child.child.label.eq("c"), &[1, 2, 3]),
            (form.a_tree.child.child.child.label.exists(true), &[]),
            (form.a_tree.others.any(|tree| tree.label.eq("d")), &[1, 2, 3]),
            (form.new_field.eq(9), &[1, 2, 3]),
        ];
        for (filter, expected) in cases {
            let text = format!("{filter:?}");
            let found = db.forms.find(filter).await.unwrap();
            let found: Vec<i64> = found.iter().map(|form| form.id).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    async fn a_typed_path_changes_what_serde_reads(store: AnyStore) {
        let db = Forms::open(store).await.unwrap();
        db.forms.insert_many([form(1), second()]).await.unwrap();
        let fields = Form::fields();
        db.forms
            .update(1)
            .set(fields.long_name, "new")
            .set(fields.audit.inner.second_value, -4)
            .set(fields.external.card.expires, 2040)
            .inc(fields.internal.circle.the_radius, 1)
            .set(fields.a_tree.child.label, "B")
            .set(fields.untagged.pair.right, 0)
            .await
            .unwrap();
        let mut expected = form(1);
        expected.long_name = "new".into();
        expected.audit.inner.second_value = -4;
        expected.external = External::Card { number: "1234".into(), expires: 2040 };
        expected.internal = Internal::Circle { the_radius: 6 };
        expected.a_tree.child.as_mut().unwrap().label = "B".into();
        expected.untagged = Untagged::Pair { left: 7, right: 0 };
        assert_eq!(db.forms.get(1).await.unwrap(), expected);
        // As a whole value of another variant.
        db.forms.update(2).set(fields.external, External::Nothing).await.unwrap();
        assert_eq!(db.forms.get(2).await.unwrap().external, External::Nothing);
    }

    async fn what_an_older_program_stored_is_read(store: AnyStore) {
        let db = Forms::open(store).await.unwrap();
        db.forms.insert(form(1)).await.unwrap();
        let older = doc! {
            "$unset": { "newField": "", "adjacent": "" },
            "$set": { "of_a_newer_program": { "a": [1] } },
        };
        db.forms.update(1).raw(older).await.unwrap();
        let read = db.forms.get(1).await.unwrap();
        assert_eq!(read, Form { adjacent: None, new_field: 0, ..form(1) });
    }
}

on_embedded_stores! {
    async fn indexes_are_on_the_stored_paths(store: AnyStore) {
        let db = Forms::open(store).await.unwrap();
        db.forms.insert_many((0..50).map(form)).await.unwrap();
        db.forms.update(7).set(Form::fields().long_name, "seven").await.unwrap();
        let by_name = db.forms.find(Form::fields().long_name.eq("seven")).explain().await.unwrap();
        assert!(by_name.index.is_some_and(|name| name.starts_with("longName_1")));
        assert!(by_name.cost.documents_examined <= 1);
        let sort = Form::fields().audit.inner.second_value.desc();
        let sorted = db.forms.find(Form::fields().long_name.eq("n")).sort(sort).explain().await;
        let sorted = sorted.unwrap();
        assert_eq!(sorted.index.as_deref(), Some("longName_1_other_-1"));
        assert!(sorted.sorted_by_index);
    }
}

#[test]
fn the_text_of_a_path_is_the_stored_path() {
    let form = Form::fields();
    assert_eq!(form.id.path(), "_id");
    assert_eq!(form.long_name.path(), "longName");
    assert_eq!(form.renamed_field.path(), "x");
    assert_eq!(form.audit.author.path(), "by");
    assert_eq!(form.audit.inner.first_value.path(), "FIRST-VALUE");
    assert_eq!(form.external.card.expires.path(), "external.Card.exp");
    assert_eq!(form.external.bank_transfer.second_value.path(), "external.bank.other");
    assert_eq!(form.internal.circle.the_radius.path(), "internal.theRadius");
    assert_eq!(form.internal.square.second_value.path(), "internal.other");
    assert_eq!(form.adjacent.number.value.path(), "adjacent.c.value");
    assert_eq!(form.untagged.pair.left.path(), "untagged.left");
    assert_eq!(form.a_tree.child.child.child.label.path(), "aTree.child.child.child.label");
    assert_eq!(size_of_val(&form.a_tree.child.label), 0);
}
