//! The code of `docs/recipes.md`: one test for each recipe, on models of its own.

use odm::{Embedded, Result, prelude::*};
use serde::{Deserialize, Serialize};

mod jobs {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "jobs", new = "NewJob", index(fields = "due"))]
    struct Job {
        #[serde(rename = "_id")]
        #[id(auto)]
        id: ObjectId,
        task: String,
        due: DateTime, // a job that a worker has is due again if the worker dies
        tries: i32,
        #[version]
        revision: i64,
    }

    #[derive(Database)]
    #[database(name = "jobs", version = 1)]
    struct Work {
        jobs: Repository<Job>,
    }

    impl Work {
        const LEASE: Duration = Duration::from_secs(60);

        async fn next(&self, now: SystemTime) -> Result<Option<Job>> {
            let job = Job::fields();
            let (lease, now) = (DateTime::from(now + Self::LEASE), DateTime::from(now));
            self.transaction(async |db| {
                let due = db.jobs.find(job.due.lte(now)).sort(job.due.asc());
                let Some(next) = due.first().await? else {
                    return Ok(None);
                };
                let taken = db.jobs.update(&next).set(job.due, lease).inc(job.tries, 1);
                taken.returning().await.map(Some)
            })
            .await
        }

        /// Fails with `Stale` if another worker has the job by now.
        async fn done(&self, job: Job) -> Result<()> {
            let own = Job::fields().id.eq(job.id) & Job::fields().revision.eq(job.revision);
            match self.jobs.delete_where(own).await? {
                0 => Err(odm::Error::new(odm::ErrorKind::Stale, "another worker has this job")),
                _ => Ok(()),
            }
        }
    }

    #[tokio::test]
    async fn a_job_has_one_worker_and_another_one_when_that_has_died() -> Result<()> {
        let db = Work::open(Embedded::memory().await?).await?;
        let now = SystemTime::now();
        for task in ["first", "second"] {
            db.jobs.insert(NewJob { task: task.into(), due: now.into(), tries: 0 }).await?;
        }
        let (one, other) = tokio::try_join!(db.next(now), db.next(now))?;
        let (one, other) = (one.unwrap(), other.unwrap());
        assert!(one.id != other.id && db.next(now).await?.is_none());
        db.done(one).await?;
        let again = db.next(now + 2 * Work::LEASE).await?.expect("it is due again");
        assert_eq!((again.id, again.tries), (other.id, 2));
        assert!(db.done(other).await.unwrap_err().is_stale());
        db.done(again).await?;
        assert_eq!(db.jobs.all().count().await?, 0);
        Ok(())
    }
}

mod deleted {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "folders")]
    struct Folder {
        #[serde(rename = "_id")]
        id: i64,
        #[count(of = "Note", filter = live)]
        notes: i64,
        #[subset(limit = 3, sort = "-id", filter = live)]
        newest: Subset<Note>,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "notes", unique(fields = "folder, title", filter = live))]
    struct Note {
        #[serde(rename = "_id")]
        id: i64,
        #[reference(parent)]
        folder: Ref<Folder>,
        title: String,
        deleted: Option<DateTime>,
    }

    fn live() -> Filter<Note> {
        Note::fields().deleted.is_null()
    }

    #[derive(Database)]
    #[database(name = "notes", version = 1)]
    struct Notes {
        folders: Repository<Folder>,
        notes: Repository<Note>,
    }

    #[tokio::test]
    async fn a_note_in_the_bin_is_not_counted_and_its_title_is_free() -> Result<()> {
        let db = Notes::open(Embedded::memory().await?).await?;
        let folder = Folder { id: 1, notes: 0, newest: Subset::new() };
        let folder = db.folders.insert(folder).await?;
        let note = |id| Note { id, folder: Ref::from(&folder), title: "a".into(), deleted: None };
        db.notes.insert(note(1)).await?;
        let deleted = Note::fields().deleted;
        db.notes.update(1).set(deleted, DateTime::now()).await?; // into the bin
        db.notes.insert(note(2)).await?;
        let shown = db.notes.find(live()).await?;
        let folder = db.folders.get(1).await?;
        assert_eq!((folder.notes, &*folder.newest), (1, &*shown));
        let restored = db.notes.update(1).unset(deleted).await; // its title is taken by now
        assert!(restored.unwrap_err().is_duplicate_key());
        Ok(())
    }
}

mod tenants {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "tenants")]
    struct Tenant {
        #[serde(rename = "_id")]
        id: i64,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "invoices", index(fields = "tenant, -number"))]
    struct Invoice {
        #[serde(rename = "_id")]
        id: i64,
        #[reference(parent, on_delete = "cascade")]
        tenant: Ref<Tenant>,
        number: i64,
    }

    #[derive(Database)]
    #[database(name = "billing", version = 1)]
    struct Billing {
        tenants: Repository<Tenant>,
        invoices: Repository<Invoice>,
    }

    /// What a request can reach: it gets this, and not the database.
    struct Of {
        db: Billing,
        tenant: Ref<Tenant>,
    }

    impl Of {
        fn find(&self, filter: Filter<Invoice>) -> odm::repository::Query<Invoice> {
            self.db.invoices.find(filter & Invoice::fields().tenant.eq(self.tenant))
        }

        async fn delete(&self, id: i64) -> Result<bool> {
            let own = Invoice::fields().id.eq(id) & Invoice::fields().tenant.eq(self.tenant);
            Ok(self.db.invoices.delete_where(own).await? > 0)
        }
    }

    #[tokio::test]
    async fn a_tenant_reaches_what_is_its_own() -> Result<()> {
        let db = Billing::open(Embedded::memory().await?).await?;
        for id in [1, 2] {
            db.tenants.insert(Tenant { id }).await?;
            db.invoices.insert(Invoice { id, tenant: Ref::new(id), number: 7 }).await?;
        }
        let of = Of { db: db.clone(), tenant: Ref::new(1) };
        let found = of.find(Invoice::fields().number.eq(7)).await?;
        assert_eq!(found.iter().map(|invoice| invoice.id).collect::<Vec<_>>(), [1]);
        assert!(!of.delete(2).await? && of.delete(1).await?);
        assert!(db.tenants.delete(2).await?);
        assert_eq!(db.invoices.all().count().await?, 0);
        Ok(())
    }
}

mod history {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "pages")]
    struct Page {
        #[serde(rename = "_id")]
        id: i64,
        text: String,
        #[updated_at]
        updated_at: DateTime,
        #[version]
        revision: i64,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "revisions", new = "NewRevision", unique(fields = "page, revision"))]
    struct Revision {
        #[serde(rename = "_id")]
        #[id(auto)]
        id: ObjectId,
        #[reference(parent, on_delete = "cascade")]
        page: Ref<Page>,
        revision: i64,
        #[opaque]
        before: Page,
        by: String,
    }

    #[derive(Database)]
    #[database(name = "wiki", version = 1)]
    struct Wiki {
        pages: Repository<Page>,
        revisions: Repository<Revision>,
    }

    impl Wiki {
        /// The only way to change a page.
        async fn change(&self, id: i64, by: &str, changes: Update<Page>) -> Result<()> {
            self.transaction(async |db| {
                let update = db.pages.update(id).with(changes.clone());
                let before = update.returning_before().await?;
                let (page, revision, by) = (Ref::from(&before), before.revision, by.into());
                db.revisions.insert(NewRevision { page, revision, before, by }).await?;
                Ok(())
            })
            .await
        }
    }

    #[tokio::test]
    async fn a_page_is_there_as_it_was() -> Result<()> {
        let db = Wiki::open(Embedded::memory().await?).await?;
        let now = DateTime::now();
        db.pages.insert(Page { id: 1, text: "a".into(), updated_at: now, revision: 0 }).await?;
        for text in ["b", "c"] {
            db.change(1, "Ann", Update::new().set(Page::fields().text, text)).await?;
        }
        let page = db.pages.get(1).await?;
        let revisions = db.revisions.of(&page).await?;
        let texts: Vec<_> = revisions.iter().map(|revision| &*revision.before.text).collect();
        assert_eq!((&*page.text, texts), ("c", vec!["a", "b"]));
        Ok(())
    }
}

mod words {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "articles", new = "NewArticle")]
    struct Article {
        #[serde(rename = "_id")]
        #[id(sequence)]
        id: i64,
        title: String,
        text: String,
        #[computed(words(&format!("{title} {text}")))]
        #[index]
        words: Vec<String>,
    }

    #[derive(Database)]
    #[database(name = "articles", version = 1)]
    struct Articles {
        articles: Repository<Article>,
    }

    #[tokio::test]
    async fn an_article_is_found_by_its_words() -> Result<()> {
        let db = Articles::open(Embedded::memory().await?).await?;
        for (title, text) in
            [("The red bridge", ""), ("A bridge too far", "by Ryan"), ("Red, red rose", "")]
        {
            db.articles.insert(NewArticle { title: title.into(), text: text.into() }).await?;
        }
        let search = async |text: &str| {
            let found = db.articles.find(Article::fields().words.matches(text)).await?;
            Ok::<_, odm::Error>(found.into_iter().map(|article| article.id).collect::<Vec<_>>())
        };
        assert_eq!(search("BRIDGE").await?, [1, 2]);
        assert_eq!(search("red bri*").await?, [1]);
        assert_eq!(search("ryan far").await?, [2]);
        assert!(search("bri").await?.is_empty());
        assert_eq!(search(" ").await?.len(), 3);
        Ok(())
    }
}
