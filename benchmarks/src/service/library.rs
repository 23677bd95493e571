//! The library.

use std::{
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
};

use odm::{
    Embedded,
    prelude::*,
    store::{Durability, contract::Store},
};
use serde::{Deserialize, Serialize};

use super::{
    ACCOUNTS, BALANCE, NEWEST, PAGES, PAUSE, POSTS_OF_A_TOPIC, Service, TOPICS, Totals, Transfer,
    sections,
};
use crate::shared::random::text;

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "accounts")]
struct Account {
    #[serde(rename = "_id")]
    id: i64,
    owner: String,
    balance: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "topics")]
struct Topic {
    #[serde(rename = "_id")]
    id: i64,
    title: String,
    #[count(of = "Post")]
    posts: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "posts", index(fields = "topic, -id"))]
struct Post {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    topic: Ref<Topic>,
    text: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "pages")]
struct Page {
    #[serde(rename = "_id")]
    id: i64,
    views: i64,
    sections: Vec<String>,
}

#[derive(Database)]
#[database(name = "service", version = 1)]
struct Forum {
    accounts: Repository<Account>,
    topics: Repository<Topic>,
    posts: Repository<Post>,
    pages: Repository<Page>,
}

pub(super) struct Library {
    store: Embedded,
    forum: Forum,
    attempts: AtomicU64,
}

fn post(id: i64, topic: i64) -> Post {
    Post {
        id,
        topic: Ref::new(topic),
        text: text(id as u64, 200),
    }
}

impl Library {
    pub(super) async fn load(path: &Path) -> odm::Result<Library> {
        let loading = Embedded::builder().durability(Durability::Eventual);
        let loading = loading.open(path).await?;
        let forum = Forum::open(loading.clone()).await?;
        let accounts = (1..=ACCOUNTS).map(|id| Account {
            id,
            owner: text(id as u64, 20),
            balance: BALANCE,
        });
        forum.accounts.insert_many(accounts).await?;
        let topics = (1..=TOPICS).map(|id| Topic {
            id,
            title: text(id as u64, 40),
            posts: 0,
        });
        forum.topics.insert_many(topics).await?;
        let posts = (1..=TOPICS * POSTS_OF_A_TOPIC).map(|id| post(id, 1 + id % TOPICS));
        forum.posts.insert_many(posts).await?;
        let pages = (1..=PAGES).map(|id| Page {
            id,
            views: 0,
            sections: sections(id).collect(),
        });
        forum.pages.insert_many(pages).await?;
        loading.close().await?;
        let store = Embedded::open(path).await?;
        Ok(Library {
            forum: Forum::open(store.clone()).await?,
            store,
            attempts: AtomicU64::new(0),
        })
    }

    /// Deletes a post.
    pub(super) async fn forget(&self, id: i64) -> odm::Result<()> {
        self.forum.posts.delete(id).await?;
        Ok(())
    }

    fn begin(&self) {
        self.attempts.fetch_add(1, Ordering::Relaxed);
    }
}

impl Service for Library {
    const NAME: &'static str = "odm";

    async fn topic(&self, topic: i64) -> anyhow::Result<usize> {
        let fields = Post::fields();
        let newest = fields.topic.referrers().sort(fields.id.desc());
        let topic = self.forum.topics.find(Topic::fields().id.eq(topic));
        let (_, posts) = topic.join(newest.limit(NEWEST as u64)).one().await?;
        Ok(posts.len())
    }

    async fn post(&self, id: i64, topic: i64) -> anyhow::Result<()> {
        let insert = self.forum.transaction(async |forum| {
            self.begin();
            forum.posts.insert(post(id, topic)).await
        });
        insert.await?;
        Ok(())
    }

    async fn transfer(&self, transfer: Transfer, is_slow: bool) -> anyhow::Result<()> {
        let Transfer { from, to, amount } = transfer;
        let balance = Account::fields().balance;
        let transfer = self.forum.transaction(async |forum| {
            self.begin();
            if is_slow {
                forum.accounts.get(from).await?;
                tokio::time::sleep(PAUSE).await;
            }
            forum.accounts.update(from).inc(balance, -amount).await?;
            forum.accounts.update(to).inc(balance, amount).await
        });
        transfer.await?;
        Ok(())
    }

    async fn view(&self, page: i64) -> anyhow::Result<()> {
        let view = self.forum.pages.update(page);
        view.inc(Page::fields().views, 1).await?;
        Ok(())
    }

    async fn totals(&self) -> anyhow::Result<Totals> {
        let forum = &self.forum;
        Ok(Totals {
            balance: forum.accounts.all().sum(Account::fields().balance).await?,
            counted: forum.topics.all().sum(Topic::fields().posts).await?,
            posts: forum.posts.all().count().await? as i64,
            views: forum.pages.all().sum(Page::fields().views).await?,
        })
    }

    fn attempts(&self) -> Option<u64> {
        Some(self.attempts.load(Ordering::Relaxed))
    }

    async fn close(&self) -> anyhow::Result<()> {
        Ok(self.store.close().await?)
    }
}
