//! The models: the stored documents, and their derived data.
//!
//! No other code in this service maintains derived data: the attributes below declare how it is derived, and what clients see.

use odm::prelude::*;
use serde::{Deserialize, Serialize};

/// A user, who is the author of articles and comments.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "users", new = "NewUser")]
pub struct User {
    /// The id, which the library makes.
    #[serde(rename = "_id")]
    #[id(auto)]
    pub id: ObjectId,
    /// The name, a part of addresses. Names that differ only in case are the same.
    #[validate(max_length = 40, pattern = r"^[\p{L}\p{N}_-][\p{L}\p{N}_.-]*\z")]
    pub username: String,
    /// The name, case-folded.
    #[computed(fold_case(&username))]
    #[index(unique)]
    pub username_folded: String,
    /// The address, by which a user signs in.
    #[validate(max_length = 254, pattern = r"^[^@\s]+@[^@\s]+\z")]
    pub email: String,
    /// The address, case-folded.
    #[computed(fold_case(&email))]
    #[index(unique)]
    pub email_folded: String,
    /// The hash of the password, with its salt and settings.
    #[public(skip)]
    pub password_hash: String,
    /// How many passwords the user has had before this one. A token is that of one password.
    #[serde(default)]
    pub password_number: i64,
    /// A text about the user.
    #[validate(max_length = 2000)]
    pub bio: Option<String>,
    /// The address of an image.
    #[validate(max_length = 2000)]
    pub image: Option<String>,
    /// How many users follow this one.
    #[count(of = "Follow", via = "followed")]
    pub followers: i64,
    /// How many users this one follows.
    #[count(of = "Follow", via = "follower")]
    pub following: i64,
    /// How many articles this user has written.
    #[count(of = "Article")]
    pub articles: u64,
    /// How many articles are among the favorites of this user.
    #[count(of = "Favorite")]
    pub favorites: u64,
}

/// A user follows another one.
///
/// These are documents, and not lists of inverse references in the users: each write of a member rewrites its whole list, so that each new
/// follower of a user with 100,000 followers would hold up all writers for a third of a second, and the list would be read with each
/// request of its user.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "follows", new = "NewFollow")]
#[document(unique(fields = "follower, followed"))]
pub struct Follow {
    /// The id, which the library makes.
    #[serde(rename = "_id")]
    #[id(auto)]
    pub id: ObjectId,
    /// Who follows.
    #[reference(parent, on_delete = "cascade")]
    pub follower: Ref<User>,
    /// Who is followed.
    #[reference(parent, on_delete = "cascade")]
    pub followed: Ref<User>,
}

/// The author of an article or a comment, with a copy of the public part of the user.
#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
pub struct Author {
    /// The user.
    #[reference(parent, on_delete = "cascade")]
    #[public(skip)]
    pub id: Ref<User>,
    /// Its name.
    #[denormalize(from = "User.username")]
    pub username: String,
    /// A text about the author.
    #[denormalize(from = "User.bio")]
    pub bio: Option<String>,
    /// Its image.
    #[denormalize(from = "User.image")]
    pub image: Option<String>,
}

/// An article. Lists of articles do not read the bodies, which are stored in a collection of their own.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "articles", new = "NewArticle")]
#[document(index(fields = "author.id, -created_at"))]
#[document(index(fields = "tags, -created_at"))]
#[document(index(fields = "words, -created_at"))]
#[document(index(fields = "-created_at"))]
pub struct Article {
    /// The id, which the library makes.
    #[serde(rename = "_id")]
    #[id(auto)]
    #[public(skip)]
    pub id: ObjectId,
    /// The name in addresses, made of the title.
    #[index(unique)]
    #[validate(with = is_free)]
    pub slug: String,
    /// The title.
    #[validate(max_length = 200, pattern = r"\S")]
    pub title: String,
    /// A short description.
    #[validate(max_length = 1000, pattern = r"\S")]
    pub description: String,
    /// The words of the title and the description, by which articles are searched.
    #[computed(words(&format!("{title} {description}")))]
    #[public(skip)]
    pub words: Vec<String>,
    /// The body.
    #[split(collection = "bodies", key = "article")]
    #[public(skip)]
    pub body: Cold<Body>,
    /// The tags, in the order of their texts.
    #[reference(parent, on_delete = "pull")]
    #[validate(max_items = 10, unique_items)]
    #[public(rename = "tagList")]
    pub tags: Vec<Ref<Tag>>,
    /// Who has written it.
    #[embed]
    #[public(skip)]
    pub author: Author,
    /// How many users have it among their favorites.
    #[count(of = "Favorite")]
    #[public(rename = "favoritesCount")]
    pub favorites: i64,
    /// How many comments there are.
    #[count(of = "Comment")]
    #[public(skip)]
    pub comments: i64,
    /// Counts the changes that its author makes.
    #[version]
    #[public(skip)]
    pub revision: i64,
    /// When it was published.
    #[created_at]
    #[public(rename = "createdAt")]
    pub created_at: DateTime,
    /// When its author has changed it.
    #[updated_at]
    #[public(rename = "updatedAt")]
    pub updated_at: DateTime,
}

/// The body of an article.
#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
pub struct Body {
    /// The text.
    #[validate(max_length = 100_000, pattern = r"\S")]
    pub text: String,
}

/// A tag: its text is its id, so that an article shows its tags without them.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "tags", index(fields = "-articles"))]
pub struct Tag {
    /// The text.
    #[serde(rename = "_id")]
    #[validate(max_length = 40, pattern = r"^\S(.*\S)?\z")]
    pub text: String,
    /// How many articles have it.
    #[count(of = "Article", via = "tags")]
    pub articles: u64,
}

impl Tag {
    /// The tag that a reference names, for an article that may be the first to have it.
    pub fn of(tag: &Ref<Tag>) -> Self {
        let (text, articles) = (tag.id().clone(), 0);
        Tag { text, articles }
    }
}

/// An article as a favorite of a user.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "favorites", new = "NewFavorite")]
#[document(unique(fields = "user, article"))]
pub struct Favorite {
    /// The id, which the library makes.
    #[serde(rename = "_id")]
    #[id(auto)]
    pub id: ObjectId,
    /// The user.
    #[reference(parent, on_delete = "cascade")]
    pub user: Ref<User>,
    /// The article.
    #[reference(parent, on_delete = "cascade")]
    pub article: Ref<Article>,
}

/// A comment on an article.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "comments", new = "NewComment")]
pub struct Comment {
    /// The number, which the library gives.
    #[serde(rename = "_id")]
    #[id(sequence)]
    #[public(rename = "id")]
    pub id: i64,
    /// The text.
    #[validate(max_length = 10_000, pattern = r"\S")]
    pub body: String,
    /// Who has written it.
    #[embed]
    #[public(skip)]
    pub author: Author,
    /// The article.
    #[reference(parent, on_delete = "cascade")]
    #[public(skip)]
    pub article: Ref<Article>,
    /// When it was written.
    #[created_at]
    #[public(rename = "createdAt")]
    pub created_at: DateTime,
}

/// All collections.
#[derive(Debug, Database)]
#[database(name = "conduit", version = 1)]
pub struct Conduit {
    /// The users.
    pub users: Repository<User>,
    /// Who follows whom.
    pub follows: Repository<Follow>,
    /// The articles, with their bodies.
    pub articles: Repository<Article>,
    /// The tags of articles.
    pub tags: Repository<Tag>,
    /// Which articles are whose favorites.
    pub favorites: Repository<Favorite>,
    /// The comments.
    pub comments: Repository<Comment>,
}

/// Refuses slugs that cannot be the address of an article.
fn is_free(slug: &str) -> Result<(), &'static str> {
    match slug {
        "" => Err("has no letter and no digit"),
        // `/api/articles/feed` is the feed.
        "feed" => Err("is reserved"),
        _ => Ok(()),
    }
}
