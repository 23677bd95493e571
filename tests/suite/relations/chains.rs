//! Cascades through several models and in cycles, and references in cold parts.

use odm::{bson::doc, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{TestStore, behind_the_back, on_every_store};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "folders")]
struct Folder {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(parent, on_delete = "cascade")]
    parent: Option<Ref<Folder>>,
    #[denormalize(from = "Folder.name", via = "parent")]
    parent_name: Option<String>,
    name: String,
    #[count(of = "File")]
    files: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "files")]
struct File {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(parent, on_delete = "cascade")]
    folder: Ref<Folder>,
    #[split(collection = "contents", key = "_id")]
    content: Cold<Content>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Content {
    #[reference(child, on_delete = "cascade")]
    license: Option<Ref<License>>,
    #[denormalize(from = "License.name")]
    license_name: Option<String>,
    text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "licenses")]
struct License {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
}

/// It keeps its copies, and may dangle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "logs")]
struct Log {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(parent, on_delete = "keep")]
    file: Ref<File>,
    #[reference(parent, unchecked)]
    folder: Option<Ref<Folder>>,
    #[denormalize(from = "Folder.name")]
    folder_name: Option<String>,
}

#[derive(Database)]
#[database(name = "disk", version = 1)]
struct Disk {
    folders: Repository<Folder>,
    files: Repository<File>,
    licenses: Repository<License>,
    logs: Repository<Log>,
}

fn folder(id: i32, parent: Option<i32>) -> Folder {
    Folder {
        id,
        parent: parent.map(Ref::new),
        parent_name: None,
        name: format!("folder {id}"),
        files: 0,
    }
}

fn file(id: i32, folder: i32, license: Option<i32>) -> File {
    File {
        id,
        folder: Ref::new(folder),
        content: Content {
            license: license.map(Ref::new),
            license_name: None,
            text: format!("text {id}"),
        }
        .into(),
    }
}

async fn disk(store: impl TestStore) -> Disk {
    let db = Disk::open(store).await.unwrap();
    db.licenses
        .insert_many((1..=2).map(|id| License { id, name: format!("license {id}") }))
        .await
        .unwrap();
    for id in 1..=5 {
        db.folders.insert(folder(id, (id > 1).then_some(id - 1))).await.unwrap();
    }
    db.files.insert_many((1..=10).map(|id| file(id, 1 + id % 5, Some(1 + id % 2)))).await.unwrap();
    db
}

on_every_store! {
    async fn a_cascade_goes_through_all_levels_and_models(store: AnyStore) {
        let db = disk(store.clone()).await;
        assert_eq!(db.audit().await.unwrap(), []);
        db.folders.delete(3).await.unwrap();
        assert_eq!(db.folders.all().count().await.unwrap(), 2);
        let files = db.files.all().await.unwrap();
        assert!(files.iter().all(|file| *file.folder.id() < 3) && files.len() == 4);
        assert_eq!(tests::stored(&store, "contents").await.len(), 4, "the cold parts go too");
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn a_cascade_in_a_circle_ends(store: AnyStore) {
        let db = disk(store).await;
        db.folders.update(1).set(Folder::fields().parent, 5).await.unwrap();
        db.folders.delete(2).await.unwrap();
        assert_eq!(db.folders.all().count().await.unwrap(), 0);
        assert_eq!(db.files.all().count().await.unwrap(), 0);
    }

    async fn a_cold_part_has_copies_and_rules_of_its_own(store: AnyStore) {
        let db = disk(store).await;
        let content = File::fields().content;
        let text = async |id: i32| {
            db.files.get(id).with(content).await.unwrap().content.into_inner().unwrap().license_name
        };
        assert_eq!(text(1).await.as_deref(), Some("license 2"));
        db.licenses.update(2).set(License::fields().name, "renamed").await.unwrap();
        assert_eq!(text(1).await.as_deref(), Some("renamed"));
        db.files.update(1).set(content.license, 1).await.unwrap();
        assert_eq!(text(1).await.as_deref(), Some("license 1"));
        let error = db.files.update(1).raw(doc! { "$set": { "content.license_name": "x" } }).await;
        assert!(error.unwrap_err().to_string().contains("license_name"));
        // A cascade into a cold part removes the whole document.
        db.licenses.delete(1).await.unwrap();
        let left = db.files.all().with(content).await.unwrap();
        assert!(left.len() == 4 && left.iter().all(|file| file.content.is_loaded()));
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn what_may_dangle_keeps_its_last_copy(store: AnyStore) {
        let db = disk(store.clone()).await;
        let log = |id, file, folder: Option<i32>| Log {
            id, file: Ref::new(file), folder: folder.map(Ref::new), folder_name: None,
        };
        db.logs.insert_many([log(1, 1, Some(2)), log(2, 2, Some(9))]).await.unwrap();
        assert!(db.logs.insert(log(3, 99, None)).await.is_err(), "a kept reference starts somewhere");
        assert_eq!(db.logs.get(1).await.unwrap().folder_name.as_deref(), Some("folder 2"));
        assert_eq!(db.logs.get(2).await.unwrap().folder_name, None);
        db.folders.delete(1).await.unwrap();
        assert_eq!(db.files.all().count().await.unwrap(), 0);
        let kept = db.logs.get(1).await.unwrap();
        assert_eq!(kept.folder_name.as_deref(), Some("folder 2"));
        let replaced = db.logs.replace(Log { folder_name: None, ..kept.clone() }).await.unwrap();
        assert_eq!(replaced, kept);
        // A source that is inserted later is copied, too.
        db.folders.insert(folder(9, None)).await.unwrap();
        assert_eq!(db.logs.get(2).await.unwrap().folder_name.as_deref(), Some("folder 9"));
        assert_eq!(db.audit().await.unwrap(), []);
        behind_the_back(&store, "logs", doc! { "_id": 2 }, doc! { "$set": { "folder_name": "x" } }).await;
        assert_eq!(db.repair().await.unwrap().len(), 1);
        assert_eq!(db.logs.get(2).await.unwrap().folder_name.as_deref(), Some("folder 9"));
    }

    async fn joins_of_kept_references_are_options(store: AnyStore) {
        let db = disk(store).await;
        let log = Log { id: 1, file: Ref::new(1), folder: None, folder_name: None };
        db.logs.insert(log).await.unwrap();
        db.files.delete(1).await.unwrap();
        let rows: Vec<(Log, Option<File>)> = db.logs.all().join(Log::fields().file).await.unwrap();
        assert_eq!(rows[0].1, None);
    }
}
