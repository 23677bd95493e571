//! The subset pattern's other uses: a post with its highest-rated comments, a movie with its
//! largest roles.

use odm::{Finding, prelude::*};
use serde::{Deserialize, Serialize};

use crate::show::{Screen, change};

/// A blog post that shows its highest-rated comments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "posts")]
pub struct Post {
    /// Its number.
    #[serde(rename = "_id")]
    pub id: i32,
    /// The title.
    pub title: String,
    /// The best of the published comments.
    #[subset(limit = 3, sort = "-rating", filter = published)]
    pub best_comments: Subset<CommentSummary>,
}

/// A comment on a post.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "comments")]
pub struct Comment {
    /// Its number.
    #[serde(rename = "_id")]
    pub id: i32,
    /// The post.
    #[reference(parent)]
    pub post: Ref<Post>,
    /// Who wrote it.
    pub author: String,
    /// The text.
    pub text: String,
    /// The rating by others.
    pub rating: i32,
    /// Whether others see it.
    pub published: bool,
}

/// The summary of a comment in its post.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Comment")]
pub struct CommentSummary {
    /// Who wrote it.
    pub author: String,
    /// The text.
    pub text: String,
    /// The rating by others.
    pub rating: i32,
}

fn published() -> Filter<Comment> {
    Comment::fields().published.eq(true)
}

/// A movie that shows its largest roles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "movies_with_cast")]
pub struct Movie {
    /// Its number.
    #[serde(rename = "_id")]
    pub id: i32,
    /// The title.
    pub title: String,
    /// The largest roles.
    #[subset(limit = 2, sort = "-minutes")]
    pub cast: Subset<RoleSummary>,
}

/// A role in a movie.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "roles")]
pub struct Role {
    /// Its number.
    #[serde(rename = "_id")]
    pub id: i32,
    /// The movie.
    #[reference(parent)]
    pub movie: Ref<Movie>,
    /// The actor.
    pub actor: String,
    /// The character.
    pub character: String,
    /// Their time on screen, in minutes.
    pub minutes: i32,
}

/// The summary of a role in its movie.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Role")]
pub struct RoleSummary {
    /// The actor.
    pub actor: String,
    /// The character.
    pub character: String,
}

/// Posts and movies.
#[derive(Database)]
#[database(name = "favourites", version = 1)]
pub struct Favourites {
    /// Posts.
    pub posts: Repository<Post>,
    /// Their comments.
    pub comments: Repository<Comment>,
    /// Movies.
    pub movies: Repository<Movie>,
    /// Their roles.
    pub roles: Repository<Role>,
}

/// Stores a post with comments, and a movie with roles.
pub async fn load(db: &Favourites) -> odm::Result<()> {
    let title = "Rules of thumb".into();
    let post = db
        .posts
        .insert(Post {
            id: 1,
            title,
            best_comments: Subset::new(),
        })
        .await?;
    let comments = [
        ("Kate", 4, true),
        ("Joe", 9, false),
        ("Ida", 7, true),
        ("Max", 1, true),
        ("Eva", 5, true),
    ];
    let comment = |(id, (author, rating, published)): (usize, (&str, i32, bool))| Comment {
        id: id as i32 + 1,
        post: Ref::from(&post),
        author: author.into(),
        text: format!("{author} finds it worth {rating}."),
        rating,
        published,
    };
    db.comments
        .insert_many(comments.into_iter().enumerate().map(comment))
        .await?;

    let title = "The Sprinkler Sprinkled".into();
    let movie = db
        .movies
        .insert(Movie {
            id: 2,
            title,
            cast: Subset::new(),
        })
        .await?;
    let roles = [
        ("Benoît Duval", "The boy", 1),
        ("François Clerc", "The gardener", 2),
        ("A hose", "Itself", 0),
    ];
    let role = |(id, (actor, character, minutes)): (usize, (&str, &str, i32))| Role {
        id: id as i32 + 1,
        movie: Ref::from(&movie),
        actor: actor.into(),
        character: character.into(),
        minutes,
    };
    db.roles
        .insert_many(roles.into_iter().enumerate().map(role))
        .await?;
    Ok(())
}

/// S13: a comment is published, and a role becomes larger.
pub async fn run(screen: &mut Screen) -> odm::Result<Vec<Finding>> {
    let db = Favourites::open(screen.store()).await?;
    load(&db).await?;
    screen.model(include_str!("favourites.rs"), &["Post", "Movie"]);
    screen.stored(["posts", "movies_with_cast"]).await?;

    change!(
        screen,
        "a comment of a high rating is published",
        db.comments.update(2).set(Comment::fields().published, true)
    );
    change!(
        screen,
        "a role becomes the largest",
        db.roles.update(3).set(Role::fields().minutes, 3)
    );
    db.audit().await
}
