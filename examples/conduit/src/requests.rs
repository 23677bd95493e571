//! What clients send, for the API and the pages alike: new articles, changes, and which list they ask for.

use odm::{prelude::*, repository::Cursor};
use serde::Deserialize;

use crate::models::*;

/// A new article.
#[derive(Debug, Clone, Deserialize)]
pub struct Draft {
    /// The title.
    pub title: String,
    /// A short description.
    pub description: String,
    /// The body.
    pub body: String,
    /// The tags.
    #[serde(rename = "tagList", default)]
    pub tags: Vec<Ref<Tag>>,
}

impl Draft {
    /// The article that a user publishes.
    pub fn by(self, author: &User) -> NewArticle {
        NewArticle {
            slug: slug(&self.title),
            title: self.title,
            description: self.description,
            body: Cold::new(Body { text: self.body }),
            tags: sorted(self.tags),
            author: author.into(),
        }
    }
}

/// The changes that an author can make to an article.
#[derive(Debug, Clone, Default, Deserialize, Patch)]
#[patch(of = "Article")]
pub struct ArticlePatch {
    /// The title.
    pub title: Option<String>,
    /// The slug of a new title.
    #[serde(skip)]
    pub slug: Option<String>,
    /// A short description.
    pub description: Option<String>,
    /// The body.
    #[patch(path = "body.text")]
    pub body: Option<String>,
    /// The tags.
    #[serde(rename = "tagList")]
    pub tags: Option<Vec<Ref<Tag>>>,
}

impl ArticlePatch {
    /// The changes with what follows from them: a new title makes a new slug.
    pub fn completed(self) -> Self {
        ArticlePatch {
            slug: self.title.as_deref().map(slug),
            tags: self.tags.map(sorted),
            ..self
        }
    }
}

/// The changes that a user can make to its own account.
#[derive(Debug, Clone, Default, Deserialize, Patch)]
#[patch(of = "User")]
pub struct UserPatch {
    /// The name.
    pub username: Option<String>,
    /// The address.
    pub email: Option<String>,
    /// The hash of a new password.
    #[serde(skip)]
    pub password_hash: Option<String>,
    /// A text about the user; `null` empties it.
    #[serde(default, deserialize_with = "odm::present")]
    pub bio: Option<Option<String>>,
    /// The address of an image; `null` removes it.
    #[serde(default, deserialize_with = "odm::present")]
    pub image: Option<Option<String>>,
}

/// Which articles a list has.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// Articles with a tag.
    pub tag: Option<String>,
    /// Articles of an author.
    pub author: Option<String>,
    /// Articles among the favorites of a user.
    pub favorited: Option<String>,
    /// Articles by authors whom a user follows.
    pub followed_by: Option<ObjectId>,
    /// Articles with all words of a text in their title or description, in any case; `wid*` is the beginning of a word.
    pub text: Option<String>,
}

/// Which part of a list is asked for.
#[derive(Debug, Clone)]
pub struct Part {
    /// Where it is.
    pub place: Place,
    /// How many articles it has at most, and at least one.
    pub limit: u64,
}

/// The place of a part in a list. Positions do not shift when an article is published.
#[derive(Debug, Clone)]
pub enum Place {
    /// At the start.
    First,
    /// After a position.
    After(Cursor),
    /// Before a position.
    Before(Cursor),
    /// After so many articles.
    Offset(u64),
}

/// The slug of a title: its words in lower case.
pub fn slug(title: &str) -> String {
    let words = title.split(|char: char| !char.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

/// Sorts the tags, and removes duplicates.
fn sorted(mut tags: Vec<Ref<Tag>>) -> Vec<Ref<Tag>> {
    tags.sort();
    tags.dedup();
    tags
}
