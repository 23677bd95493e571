//! Documents from before the declaration, references that dangle, and rings in old data.

use super::*;

mod before {
    use odm::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Debug, Serialize, Deserialize, Document)]
    #[document(collection = "areas")]
    pub(super) struct Area {
        #[serde(rename = "_id")]
        id: i64,
        #[reference(parent, on_delete = "nullify")]
        parent: Option<Ref<Area>>,
    }

    #[derive(Debug, Serialize, Deserialize, Document)]
    #[document(collection = "places")]
    pub(super) struct Place {
        #[serde(rename = "_id")]
        id: i64,
        #[reference(parent, on_delete = "cascade")]
        area: Ref<Area>,
    }

    #[derive(Database)]
    #[database(name = "atlas", version = 1)]
    pub(super) struct Atlas {
        areas: Repository<Area>,
        places: Repository<Place>,
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "areas")]
struct Area {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent, on_delete = "nullify")]
    parent: Option<Ref<Area>>,
    #[ancestors(via = "parent")]
    path: Ancestors<Area>,
    #[count(of = "Place", via = "areas")]
    places: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "places")]
struct Place {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent, on_delete = "cascade")]
    area: Ref<Area>,
    #[ancestors(via = "area")]
    areas: Ancestors<Area>,
}

#[derive(Database)]
#[database(name = "atlas", version = 2)]
struct Atlas {
    areas: Repository<Area>,
    places: Repository<Place>,
}

fn area(id: i64, parent: i64) -> Area {
    Area { id, parent: Some(Ref::new(parent)), path: Ancestors::new(), places: 0 }
}

async fn move_to(atlas: &Atlas, id: i64, parent: i64) {
    atlas.areas.update(id).set(Area::fields().parent, Some(Ref::new(parent))).await.unwrap();
}

/// Opens a tree of areas without lists, each with one place.
async fn atlas(store: &impl TestStore, tree: &[(i64, Option<i64>)]) -> Atlas {
    before::Atlas::open(store.clone()).await.unwrap();
    for (id, parent) in tree {
        insert_behind_the_back(store, "areas", doc! { "_id": id, "parent": *parent }).await;
        insert_behind_the_back(store, "places", doc! { "_id": id, "area": id }).await;
    }
    Atlas::open(store.clone()).await.unwrap()
}

/// The `_id`s above each area, and the number of places below it.
async fn paths(atlas: &Atlas) -> BTreeMap<i64, (Vec<i64>, i64)> {
    let all = atlas.areas.all().await.unwrap().into_iter();
    let ids = |area: &Area| area.path.iter().map(|above| *above.id()).collect();
    all.map(|area| (area.id, (ids(&area), area.places))).collect()
}

on_every_store! {
    async fn documents_from_before_the_declaration_get_their_lists(store: AnyStore) {
        let tree = [(1, Some(2)), (2, Some(3)), (3, None), (4, None), (5, Some(1))];
        let atlas = atlas(&store, &tree).await;
        assert_eq!(paths(&atlas).await[&1], (vec![], 0), "a list that is pending reads as empty");
        // Writes before the backfill follow the references, not the missing lists.
        atlas.areas.insert(area(6, 5)).await.unwrap();
        assert_eq!(paths(&atlas).await[&6].0, [3, 2, 1, 5]);
        move_to(&atlas, 2, 4).await;
        assert_eq!(paths(&atlas).await[&6].0, [4, 2, 1, 5]);
        let findings = atlas.backfill().await.unwrap();
        assert!(findings.iter().all(|finding| finding.repaired), "{findings:?}");
        let right = [(1, (vec![4, 2], 2)), (2, (vec![4], 3)), (3, (vec![], 1)), (4, (vec![], 4))];
        let below = [(5, (vec![4, 2, 1], 1)), (6, (vec![4, 2, 1, 5], 0))];
        assert_eq!(paths(&atlas).await, right.into_iter().chain(below).collect());
        assert_eq!(atlas.audit().await.unwrap(), []);
    }

    async fn rings_in_old_data_are_findings_and_nothing_loops(store: AnyStore) {
        let tree = [(1, Some(2)), (2, Some(1)), (3, Some(2)), (4, None), (5, Some(4))];
        let atlas = atlas(&store, &tree).await;
        let rings = |findings: Vec<odm::Finding>| {
            let is_ring = |why: &str| why.contains("the references `areas.parent` lead in a ring: ");
            let rings = findings.into_iter().filter(|finding| finding.path == "path" && !finding.repaired);
            rings
                .map(|finding| match finding.problem {
                    Problem::CheckFailed(why) if is_ring(&why) => finding.id.as_i64().unwrap(),
                    other => panic!("{other:?}"),
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(rings(atlas.backfill().await.unwrap()), [1, 2, 3]);
        assert_eq!(rings(atlas.audit().await.unwrap()), [1, 2, 3]);
        assert_eq!(paths(&atlas).await[&5].0, [4], "other documents get their lists");
        // A write outside of the ring is right; one below it is refused.
        atlas.areas.insert(area(6, 5)).await.unwrap();
        let error = atlas.areas.insert(area(7, 3)).await.unwrap_err();
        assert!(error.to_string().contains("in a ring: 2 -> 1 -> 2"), "{error}");
        // A move out of the ring ends it.
        move_to(&atlas, 1, 4).await;
        atlas.repair().await.unwrap();
        assert_eq!(paths(&atlas).await[&3].0, [4, 1, 2]);
        assert_eq!(atlas.audit().await.unwrap(), []);
    }

    async fn export_and_import_leave_the_lists_right(store: AnyStore) {
        let source = shop(Embedded::memory().await.unwrap()).await;
        let mut exported = Vec::new();
        source.export(&mut exported).await.unwrap();
        let copy = Shop::open(store).await.unwrap();
        copy.import(&exported[..]).await.unwrap();
        assert_eq!(assert_right(&copy).await, assert_right(&source).await);
        super::move_to(&copy, 2, Some(7)).await.unwrap();
        assert_right(&copy).await;
    }
}

/// A tree with inverse references, in which either side moves a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "sections")]
struct Section {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent, inverse = "sections")]
    parent: Option<Ref<Section>>,
    #[reference(child, inverse = "parent")]
    sections: Vec<Ref<Section>>,
    #[ancestors(via = "parent")]
    path: Ancestors<Section>,
}

#[derive(Database)]
#[database(name = "manual", version = 1)]
struct Manual {
    sections: Repository<Section>,
}

on_every_store! {
    async fn an_inverse_reference_moves_a_subtree(store: AnyStore) {
        let manual = Manual::open(store).await.unwrap();
        let section = |id: i64, parent: Option<i64>| Section {
            id,
            parent: parent.map(Ref::new),
            sections: Vec::new(),
            path: Ancestors::new(),
        };
        for (id, parent) in [(1, None), (2, Some(1)), (3, Some(2)), (4, None)] {
            manual.sections.insert(section(id, parent)).await.unwrap();
        }
        let sections = Section::fields().sections;
        manual.sections.update(4).push(sections, Ref::new(2)).await.unwrap();
        let path = async |id: i64| {
            let section = manual.sections.get(id).await.unwrap();
            section.path.iter().map(|above| *above.id()).collect::<Vec<_>>()
        };
        assert_eq!((path(3).await, path(1).await), (vec![4, 2], vec![]));
        let ring = manual.sections.update(3).push(sections, Ref::new(4)).await.unwrap_err();
        assert!(ring.to_string().contains("in a ring: 3 -> 2 -> 4 -> 3"), "{ring}");
        assert_eq!(manual.audit().await.unwrap(), []);
    }
}

/// A tree whose references may dangle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "folders")]
struct Folder {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent, on_delete = "keep")]
    parent: Option<Ref<Folder>>,
    #[ancestors(via = "parent")]
    path: Ancestors<Folder>,
    #[count(of = "Folder", via = "path")]
    below: i64,
}

#[derive(Database)]
#[database(name = "files", version = 1)]
struct Files {
    folders: Repository<Folder>,
}

fn folder(id: i64, parent: impl Into<Option<i64>>) -> Folder {
    Folder { id, parent: parent.into().map(Ref::new), path: Ancestors::new(), below: 0 }
}

on_every_store! {
    async fn a_list_ends_at_a_document_that_is_gone_and_goes_on_when_it_comes_back(store: AnyStore) {
        let files = Files::open(store).await.unwrap();
        files.folders.insert_many([folder(1, None), folder(2, 1), folder(3, 2), folder(4, 3)]).await.unwrap();
        files.folders.delete(2).await.unwrap();
        let path = async |id: i64| {
            let folder = files.folders.get(id).await.unwrap();
            (folder.path.iter().map(|above| *above.id()).collect::<Vec<_>>(), folder.below)
        };
        assert_eq!((path(4).await, path(1).await), ((vec![2, 3], 0), (vec![], 0)));
        assert_eq!(files.audit().await.unwrap(), []);
        files.folders.insert(folder(2, 1)).await.unwrap();
        assert_eq!((path(4).await, path(2).await, path(1).await), ((vec![1, 2, 3], 0), (vec![1], 2), (vec![], 3)));
        // A document that comes back can close a ring.
        files.folders.delete(2).await.unwrap();
        let ring = files.folders.insert(folder(2, 4)).await.unwrap_err();
        assert!(ring.to_string().contains("in a ring: 4 -> 3 -> 2 -> 4"), "{ring}");
        assert_eq!(files.audit().await.unwrap(), []);
    }
}
