//! References in unusual places: they are maintained like all others, or refused when the database is opened.

use odm::{ErrorKind, bson::doc, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_every_store};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "tools")]
struct Tool {
    #[serde(rename = "_id")]
    id: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Link {
    #[reference(child)]
    id: Ref<Part>,
    note: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "grids")]
struct Grid {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    cells: Vec<Vec<Link>>,
}

#[derive(Database)]
#[database(name = "grids", version = 1)]
struct Grids {
    parts: Repository<Part>,
    grids: Repository<Grid>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct ToolLink {
    #[reference(child)]
    id: Ref<Tool>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
#[serde(tag = "kind")]
enum Item {
    Part(#[embed] Link),
    Tool(#[embed] ToolLink),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "boxes")]
struct Crate {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    item: Item,
}

#[derive(Database)]
#[database(name = "boxes", version = 1)]
struct Crates {
    parts: Repository<Part>,
    tools: Repository<Tool>,
    boxes: Repository<Crate>,
}

/// An id that can be null, unknown to the derive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ShelfId(Option<i64>);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "shelves")]
struct Shelf {
    #[serde(rename = "_id")]
    #[opaque]
    id: ShelfId,
    #[embed]
    top: Option<Link>,
    #[embed]
    holder: Option<Holder>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
enum Holder {
    Owned {
        #[reference(parent, one)]
        owner: Ref<Tool>,
    },
    Nobody,
}

#[derive(Database)]
#[database(name = "shelves", version = 1)]
struct Shelves {
    parts: Repository<Part>,
    tools: Repository<Tool>,
    shelves: Repository<Shelf>,
}

fn link(id: i64) -> Link {
    Link { id: Ref::new(id), note: "n".into() }
}

fn shelf(id: i64, top: Option<Link>) -> Shelf {
    Shelf { id: ShelfId(Some(id)), top, holder: None }
}

async fn shelves(store: impl TestStore) -> Shelves {
    let db = Shelves::open(store).await.unwrap();
    db.parts.insert(Part { id: 1 }).await.unwrap();
    db.tools.insert(Tool { id: 1 }).await.unwrap();
    db.shelves.insert(shelf(1, Some(link(1)))).await.unwrap();
    db.shelves.insert(shelf(2, None)).await.unwrap();
    db
}

on_every_store! {
    async fn references_in_lists_of_lists_are_refused(store: AnyStore) {
        let error = Grids::open(store).await.map(drop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Schema);
        assert!(error.to_string().contains("`Grid.cells` is a list of lists"), "{error}");
    }

    async fn variants_that_share_a_path_must_hold_the_same_reference(store: AnyStore) {
        let error = Crates::open(store).await.map(drop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Schema);
        assert!(error.to_string().contains("`Crate.item.id`"), "{error}");
    }

    async fn a_reference_in_an_optional_value_is_joined_as_an_option(store: AnyStore) {
        let db = shelves(store).await;
        let rows = db.shelves.all().join(Shelf::fields().top.id.optional()).await.unwrap();
        let joined: Vec<_> = rows.into_iter().map(|(shelf, part)| (shelf.id, part)).collect();
        assert_eq!(joined, [(ShelfId(Some(1)), Some(Part { id: 1 })), (ShelfId(Some(2)), None)]);
        let error = db.shelves.all().join(Shelf::fields().top.id).await.unwrap_err();
        assert!(error.to_string().contains("`.optional()`"), "{error}");
    }

    async fn a_document_whose_id_is_null_is_refused(store: AnyStore) {
        let db = shelves(store).await;
        for write in [
            db.shelves.insert(Shelf { id: ShelfId(None), ..shelf(3, None) }).await,
            db.shelves.upsert(Shelf { id: ShelfId(None), ..shelf(3, None) }).await,
        ] {
            let error = write.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Encode);
            assert!(error.to_string().contains("`_id`"), "{error}");
        }
    }

    async fn variants_without_the_one_reference_do_not_collide(store: AnyStore) {
        let db = shelves(store).await;
        let owned = || Some(Holder::Owned { owner: Ref::new(1) });
        for (id, holder) in [(3, Some(Holder::Nobody)), (4, Some(Holder::Nobody)), (5, owned())] {
            db.shelves.insert(Shelf { holder, ..shelf(id, None) }).await.unwrap();
        }
        let second = db.shelves.insert(Shelf { holder: owned(), ..shelf(6, None) }).await;
        assert!(second.unwrap_err().is_duplicate_key());
    }

    async fn modify_leaves_what_it_does_not_know_in_embedded_values(store: AnyStore) {
        let db = shelves(store.clone()).await;
        let raw = doc! { "$set": { "top.newer": 5, "newer": 6 } };
        db.shelves.update(ShelfId(Some(1))).raw(raw).await.unwrap();
        let change = |shelf: &mut Shelf| shelf.top.as_mut().unwrap().note = "changed".into();
        db.shelves.modify(ShelfId(Some(1)), change).await.unwrap();
        let stored = tests::stored(&store, "shelves").await;
        let expected = odm::bson::rawdoc! { "id": 1_i64, "note": "changed", "newer": 5 };
        assert_eq!(stored[0].get_document("top").unwrap(), &*expected);
        assert_eq!(stored[0].get_i32("newer").unwrap(), 6);
    }
}
