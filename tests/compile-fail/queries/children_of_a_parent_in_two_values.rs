use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "users")]
struct User {
    #[serde(rename = "_id")]
    id: i64,
}

#[derive(Serialize, Deserialize, Embed)]
struct Author {
    #[reference(parent)]
    id: Ref<User>,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "articles")]
struct Article {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    author: Author,
    #[embed]
    editors: Vec<Author>,
}

async fn run(articles: Repository<Article>, user: User) -> odm::Result<()> {
    let found = articles.of(&user).await?;
    drop(found);
    Ok(())
}

fn main() {}

// - let found = articles.of(&user).await?;
// + let found = articles.find(Article::fields().author.id.eq(&user)).await?;
