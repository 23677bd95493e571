//! The writes of the histories.

use odm::prelude::*;
use proptest::{collection::vec, option, prelude::*};

use super::model::{Author, Blog, Outcome, Post};

#[derive(Debug, Clone)]
pub(super) enum Op {
    InsertAuthors(Vec<Author>),
    ReplaceAuthor { author: Author, upsert: bool },
    SetEmail(i64, String),
    SetMentor(i64, Option<i64>),
    DeleteAuthor(i64),
    DeleteAuthorsFrom(String),
    InsertPosts(Vec<Post>),
    ReplacePost { post: Post, upsert: bool },
    Score { author: i64, least: i64, by: i64 },
    Relate(i64, i64),
    Unrelate(i64),
    Move { from: i64, to: i64 },
    DeletePost(i64),
    DeletePostsOf(i64),
}

impl Op {
    /// Carries the write out.
    pub(super) async fn run(&self, db: &Blog) -> Outcome {
        self.write(db).await.map_err(|error| error.kind())
    }

    async fn write(&self, db: &Blog) -> odm::Result<u64> {
        let (author, post) = (Author::fields(), Post::fields());
        Ok(match self {
            Op::InsertAuthors(authors) => {
                db.authors.insert_many(authors.clone()).await?.len() as u64
            }
            Op::ReplaceAuthor { author, upsert: true } => {
                db.authors.upsert(author.clone()).await?.version as u64
            }
            Op::ReplaceAuthor { author, upsert: false } => {
                db.authors.replace(author.clone()).await?.version as u64
            }
            Op::SetEmail(id, email) => {
                db.authors.update(id).set(author.email, email).await?;
                0
            }
            Op::SetMentor(id, mentor) => {
                let mentor: Option<Ref<Author>> = mentor.map(Ref::new);
                db.authors.modify(id, |author| author.mentor = mentor).await?;
                0
            }
            Op::DeleteAuthor(id) => db.authors.delete(id).await?.into(),
            Op::DeleteAuthorsFrom(email) => {
                db.authors.delete_where(author.email.gte(email)).await?
            }
            Op::InsertPosts(posts) => db.posts.insert_many(posts.clone()).await?.len() as u64,
            Op::ReplacePost { post, upsert } => {
                let write = match upsert {
                    true => db.posts.upsert(post.clone()),
                    false => db.posts.replace(post.clone()),
                };
                write.await?;
                0
            }
            Op::Score { author, least, by } => {
                let of = post.author.eq(*author) & post.score.gte(*least);
                db.posts.update_where(of).inc(post.score, *by).await?.matched
            }
            Op::Relate(id, to) => {
                db.posts.update(id).push(post.related, *to).await?;
                0
            }
            Op::Unrelate(to) => {
                let all = db.posts.update_where(Filter::all());
                all.raw(odm::bson::doc! { "$pull": { "related": to } }).await?.modified
            }
            Op::Move { from, to } => {
                let of = db.posts.update_where(post.author.eq(*from));
                of.set(post.author, *to).await?.matched
            }
            Op::DeletePost(id) => db.posts.delete(id).await?.into(),
            Op::DeletePostsOf(author) => db.posts.delete_where(post.author.eq(*author)).await?,
        })
    }
}

/// Few ids and few keys, so that they conflict.
fn id() -> impl Strategy<Value = i64> + Clone {
    0..5_i64
}

fn email() -> impl Strategy<Value = String> + Clone {
    "[a-f]"
}

fn author() -> impl Strategy<Value = Author> {
    (id(), email(), 1..4_i64, option::weighted(0.3, id())).prop_map(
        |(id, email, version, mentor)| Author { id, email, version, mentor: mentor.map(Ref::new) },
    )
}

fn post() -> impl Strategy<Value = Post> {
    let related = vec(id(), 0..3);
    (0..8_i64, option::of("[a-h]"), id(), related, 0..4_i64).prop_map(
        |(id, slug, author, related, score)| Post {
            id,
            slug,
            author: Ref::new(author),
            related: related.into_iter().map(Ref::new).collect(),
            score,
        },
    )
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => vec(author(), 1..4).prop_map(Op::InsertAuthors),
        2 => (author(), any::<bool>())
            .prop_map(|(author, upsert)| Op::ReplaceAuthor { author, upsert }),
        1 => (id(), email()).prop_map(|(id, email)| Op::SetEmail(id, email)),
        2 => (id(), option::of(id())).prop_map(|(id, mentor)| Op::SetMentor(id, mentor)),
        1 => id().prop_map(Op::DeleteAuthor),
        1 => email().prop_map(Op::DeleteAuthorsFrom),
        6 => vec(post(), 1..4).prop_map(Op::InsertPosts),
        2 => (post(), any::<bool>()).prop_map(|(post, upsert)| Op::ReplacePost { post, upsert }),
        2 => (id(), 0..4_i64, -2..3_i64)
            .prop_map(|(author, least, by)| Op::Score { author, least, by }),
        2 => (0..8_i64, 0..8_i64).prop_map(|(id, to)| Op::Relate(id, to)),
        1 => (0..8_i64).prop_map(Op::Unrelate),
        1 => (id(), id()).prop_map(|(from, to)| Op::Move { from, to }),
        1 => (0..8_i64).prop_map(Op::DeletePost),
        1 => id().prop_map(Op::DeletePostsOf),
    ]
}

/// A history that starts with an author.
pub(super) fn ops() -> impl Strategy<Value = Vec<Op>> {
    let first = (0..3_i64).prop_map(|last| {
        let author = |id: i64| Author { id, email: format!("{id}"), version: 0, mentor: None };
        Op::InsertAuthors((0..=last).map(author).collect())
    });
    (first, vec(op(), 1..40)).prop_map(|(first, rest)| [vec![first], rest].concat())
}
