//! Disks that fail and power that is lost while a new version of a program opens its data, changes it by the steps of a migration, computes
//! the declared fields, and writes. Until that is done the old version goes on.

use std::collections::HashMap;

use odm_embedded::{Embedded, disk::Disk};
use odm_store::{Result, Store};
use serde::{Deserialize, Serialize};

use odm_derive::{Database, Document, Embed, Projection};

use super::Database;
use crate::{
    catalog,
    migration::{Migrations, Step},
    model::{Cold, Ref, Structure as _, Subset},
    repository::Repository,
};

mod old {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(
        collection = "authors",
        crate = "crate",
        index(fields = "name", name = "i")
    )]
    pub(super) struct Author {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        pub(super) name: String,
        pub(super) born: String,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "posts", crate = "crate")]
    pub(super) struct Post {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        #[reference(parent, on_delete = "cascade")]
        pub(super) author: Ref<Author>,
        #[embed]
        pub(super) body: Body,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Embed)]
    #[embed(crate = "crate")]
    pub(super) struct Body {
        pub(super) text: String,
    }

    #[derive(Database)]
    #[database(name = "blog", version = 1, crate = "crate")]
    pub(super) struct Blog {
        pub(super) authors: Repository<Author>,
        pub(super) posts: Repository<Post>,
    }
}

mod new {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(
        collection = "authors",
        crate = "crate",
        index(fields = "-name", name = "i", unique)
    )]
    pub(super) struct Author {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        pub(super) name: String,
        pub(super) year: i32,
        #[count(of = "Post")]
        pub(super) posts: i64,
        #[subset(limit = 2, sort = "-siblings, -id")]
        pub(super) last: Subset<Title>,
    }

    /// It follows from the count, through a copy.
    #[derive(Debug, Clone, Serialize, Deserialize, Projection)]
    #[projection(of = "Post", crate = "crate")]
    pub(super) struct Title {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        pub(super) siblings: i64,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(
        collection = "posts",
        crate = "crate",
        renamed(from = "body.text", to = "body.plain")
    )]
    pub(super) struct Post {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        #[reference(parent, on_delete = "cascade")]
        pub(super) author: Ref<Author>,
        #[denormalize(from = "Author.name", via = "author")]
        pub(super) author_name: String,
        #[denormalize(from = "Author.posts", via = "author")]
        pub(super) siblings: i64,
        #[split(collection = "bodies", key = "post_id")]
        pub(super) body: Cold<Body>,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Embed)]
    #[embed(crate = "crate")]
    pub(super) struct Body {
        pub(super) plain: String,
    }

    #[derive(Database)]
    #[database(name = "blog", version = 2, migrations = steps, crate = "crate")]
    pub(super) struct Blog {
        pub(super) authors: Repository<Author>,
        pub(super) posts: Repository<Post>,
    }

    /// A step that ran twice over a document would fail: a year is no text.
    fn steps() -> Migrations {
        Migrations::new().to(
            2,
            [
                Step::try_change("authors", "born", |year: String| year.parse::<i32>()),
                Step::rename("authors", "born", "year"),
            ],
        )
    }
}

const AUTHORS: i32 = 4;
const POSTS: i32 = 8;

/// How many writes the new version makes.
const WRITES: i32 = 4;

/// A disk with the data of the old version.
async fn written_by_the_old_version() -> Disk {
    let disk = Disk::formatted().await;
    let store = open(&disk).await.expect("a store");
    let blog = old::Blog::open(store.clone())
        .await
        .expect("the old version");
    let author = |id| old::Author {
        id,
        name: format!("author {id}"),
        born: format!("{}", 1900 + id),
    };
    let authors = blog.authors.insert_many((0..AUTHORS).map(author)).await;
    authors.expect("authors");
    let post = |id| {
        let text = "text ".repeat(100);
        old::Post {
            id,
            author: Ref::new(id % AUTHORS),
            body: old::Body { text },
        }
    };
    blog.posts
        .insert_many((0..POSTS).map(post))
        .await
        .expect("posts");
    store.close().await.expect("a close");
    disk.after_exit()
}

async fn open(disk: &Disk) -> Result<Embedded> {
    Embedded::builder()
        .cache_size(64 << 10)
        .backend(disk.clone())
        .await
}

/// Runs the new version on the data. `done` counts the writes that were acknowledged.
async fn changed_by_the_new_version(disk: &Disk, done: &mut i32) -> Result<()> {
    let blog = new::Blog::open(open(disk).await?).await?;
    // Before, while and after the relations are computed.
    insert(&blog, POSTS).await?;
    *done += 1;
    let mut backfill = blog.backfill();
    while let Some(finding) = backfill.try_next().await? {
        assert!(finding.repaired, "{finding}");
    }
    blog.authors
        .update(1)
        .set(new::Author::fields().name, "renamed")
        .await?;
    *done += 1;
    insert(&blog, POSTS + 1).await?;
    *done += 1;
    blog.authors.delete(0).await?;
    *done += 1;
    blog.session().store().close().await
}

async fn insert(blog: &new::Blog, id: i32) -> Result<()> {
    let post = new::Post {
        id,
        author: Ref::new(1),
        author_name: String::new(),
        siblings: 0,
        body: Cold::new(new::Body {
            plain: "new".into(),
        }),
    };
    blog.posts.insert(post).await.map(drop)
}

/// The writes of the new version that a disk holds. Everything else equals its definition, or is declared pending.
async fn writes_on(disk: &Disk, at: usize) -> i32 {
    let store = open(disk).await.expect("a store");
    let blog = new::Blog::open(store.clone()).await;
    let blog = blog.unwrap_or_else(|error| panic!("after operation {at}: {error}"));
    let pending = blog.pending_backfills();
    for finding in blog.audit().await.expect("an audit") {
        let field = format!("{}.{}", finding.collection, finding.path);
        assert!(
            pending.contains(&field),
            "after operation {at}: {finding}, {pending:?}"
        );
    }
    blog.backfill().await.expect("a backfill");
    assert_eq!(
        blog.pending_backfills(),
        Vec::<String>::new(),
        "after operation {at}"
    );
    assert_eq!(
        blog.audit().await.expect("an audit"),
        [],
        "after operation {at}"
    );
    store.check_integrity().await.expect("sound indexes");
    let posts = blog
        .posts
        .all()
        .with(new::Post::fields().body)
        .await
        .expect("readable posts");
    for post in &posts {
        let body = post.body.get().expect("a body");
        let text = match post.id < POSTS {
            true => "text ".repeat(100),
            false => "new".into(),
        };
        assert_eq!(body.plain, text, "after operation {at}");
    }
    for author in blog.authors.all().await.expect("readable authors") {
        assert_eq!(author.year, 1900 + author.id, "after operation {at}");
    }
    let has = |id| posts.iter().any(|post| post.id == id);
    let renamed = blog.authors.get(1).await.expect("an author").name == "renamed";
    let deleted = blog
        .authors
        .get(0)
        .optional()
        .await
        .expect("a read")
        .is_none();
    assert!(
        posts
            .iter()
            .all(|post| !deleted || post.author != Ref::new(0))
    );
    let writes = [has(POSTS), renamed, has(POSTS + 1), deleted];
    let count = writes.iter().filter(|&&write| write).count();
    assert!(
        writes[..count].iter().all(|&write| write),
        "after operation {at}: {writes:?}"
    );
    count as i32
}

/// A disk holds all of the old version, which goes on, or all of the new one.
async fn old_or_new(disk: &Disk, at: usize) {
    let store = open(disk).await.expect("a store");
    let blog = match old::Blog::open(store.clone()).await {
        Ok(blog) => blog,
        Err(error) => {
            assert!(error.to_string().contains("outdated"), "{at}: {error}");
            let changes = new::Blog::check(&store).await.expect("a check");
            assert!(changes.is_empty(), "{at}: {changes}");
            let catalog = catalog::load(&*store.reader().expect("a reader")).await;
            let pending = catalog.expect("a catalog").unreadable_pending();
            assert!(pending.is_empty(), "{at}: {pending:?}");
            return;
        }
    };
    let authors = blog.authors.all().await.expect("readable authors");
    assert_eq!(authors.len() as i32, AUTHORS, "{at}");
    for author in authors {
        assert_eq!(author.born, format!("{}", 1900 + author.id), "{at}");
    }
    let posts = blog.posts.all().await.expect("readable posts");
    assert_eq!(posts.len() as i32, POSTS, "{at}");
    let text = "text ".repeat(100);
    assert!(posts.iter().all(|post| post.body.text == text), "{at}");
    let author = |id| old::Author {
        id,
        name: "author 1".to_owned(),
        born: "1999".to_owned(),
    };
    // The index of the new version is unique.
    blog.authors.insert(author(100)).await.expect("a write");
    blog.authors.delete(0).await.expect("a delete");
    assert_eq!(blog.audit().await.expect("an audit"), [], "{at}");
    store.check_integrity().await.expect("sound indexes");
    let names = store.indexes().expect("an open store").into_iter();
    let staged = names.filter(|(collection, _)| collection.contains("staged"));
    assert_eq!(staged.count(), 0, "{at}");
}

#[test]
fn a_new_version_on_a_disk_that_fails_at_any_operation_leaves_right_or_pending_data() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let before = written_by_the_old_version().await;
        let whole = before.after_exit();
        let mut done = 0;
        changed_by_the_new_version(&whole, &mut done)
            .await
            .expect("the new version");
        assert_eq!(done, WRITES);
        let operations = whole.operations();
        // Many operations leave the same bytes, above all between two syncs.
        let mut known = HashMap::new();
        // Every operation fails in its turn if `EVERY` is 1.
        let every = std::env::var("EVERY").map_or(6, |every| every.parse().expect("a number"));
        for at in (0..).step_by(every) {
            let disk = before.after_exit();
            disk.fail_after(at);
            let mut done = 0;
            let ran = changed_by_the_new_version(&disk, &mut done).await;
            if disk.operations() <= at {
                ran.expect("no operation has failed");
                // How many operations it takes varies a little.
                assert!(at > operations / 2, "{at} of {operations} operations");
                break;
            }
            // A failure in the close, after all is durable, is left to the next open.
            assert!(ran.is_err() || done == WRITES, "operation {at} is not told");
            for left in [
                disk.after_exit(),
                disk.after_power_loss(),
                disk.after_partial_loss(at as u64),
            ] {
                let bytes = (left.bytes(), left.log_bytes());
                let writes = match known.get(&bytes) {
                    Some(&writes) => writes,
                    None => {
                        old_or_new(&left.after_exit(), at).await;
                        let writes = writes_on(&left, at).await;
                        known.insert(bytes, writes);
                        writes
                    }
                };
                assert!(writes >= done, "operation {at}: {writes} of {done} writes");
            }
        }
    });
}
