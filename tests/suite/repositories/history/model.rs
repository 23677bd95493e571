//! The documents of the histories, and the effects of a write on them, stated plainly.

use std::collections::{BTreeMap, BTreeSet};

use odm::{ErrorKind, prelude::*};
use serde::{Deserialize, Serialize};

use super::ops::Op;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "authors")]
pub(super) struct Author {
    #[serde(rename = "_id")]
    pub(super) id: i64,
    #[index(unique)]
    pub(super) email: String,
    #[version]
    pub(super) version: i64,
    #[reference(child)]
    pub(super) mentor: Option<Ref<Author>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "posts", index(fields = "author, -score"))]
pub(super) struct Post {
    #[serde(rename = "_id")]
    pub(super) id: i64,
    #[index(unique)]
    pub(super) slug: Option<String>,
    #[reference(parent)]
    pub(super) author: Ref<Author>,
    #[reference(child)]
    pub(super) related: Vec<Ref<Post>>,
    pub(super) score: i64,
}

#[derive(Database)]
#[database(name = "blog", version = 1)]
pub(super) struct Blog {
    pub(super) authors: Repository<Author>,
    pub(super) posts: Repository<Post>,
}

/// The result of a write: a number that depends on the write.
pub(super) type Outcome = Result<u64, ErrorKind>;

#[derive(Debug, Clone, Default)]
pub(super) struct Model {
    pub(super) authors: BTreeMap<i64, Author>,
    pub(super) posts: BTreeMap<i64, Post>,
}

impl Model {
    /// Applies a write as a whole or not at all.
    pub(super) fn apply(&mut self, op: &Op) -> Outcome {
        let mut next = self.clone();
        let outcome = next.change(op)?;
        next.check(self)?;
        *self = next;
        Ok(outcome)
    }

    /// The user's own changes.
    fn change(&mut self, op: &Op) -> Outcome {
        match op {
            Op::InsertAuthors(authors) => {
                for author in authors {
                    let author = Author { version: 1, ..author.clone() };
                    if self.authors.insert(author.id, author).is_some() {
                        return Err(ErrorKind::DuplicateKey);
                    }
                }
                Ok(authors.len() as u64)
            }
            Op::ReplaceAuthor { author, upsert } => match self.authors.get_mut(&author.id) {
                None if *upsert && author.version > 0 => Err(ErrorKind::Stale),
                None if *upsert => {
                    let author = Author { version: 1, ..author.clone() };
                    self.authors.insert(author.id, author);
                    Ok(1)
                }
                None => Err(ErrorKind::NotFound),
                Some(held) if held.version != author.version => Err(ErrorKind::Stale),
                Some(held) => {
                    // A write without a difference does not count.
                    *held = Author {
                        version: author.version + i64::from(*held != *author),
                        ..author.clone()
                    };
                    Ok(held.version as u64)
                }
            },
            Op::SetEmail(id, email) => {
                let author = self.authors.get_mut(id).ok_or(ErrorKind::NotFound)?;
                author.version += i64::from(author.email != *email);
                author.email = email.clone();
                Ok(0)
            }
            Op::SetMentor(id, mentor) => {
                let author = self.authors.get_mut(id).ok_or(ErrorKind::NotFound)?;
                // `modify` stores the difference, or nothing if there is none.
                let mentor = mentor.map(Ref::new);
                author.version += i64::from(author.mentor != mentor);
                author.mentor = mentor;
                Ok(0)
            }
            Op::DeleteAuthor(id) => Ok(self.authors.remove(id).is_some().into()),
            Op::DeleteAuthorsFrom(email) => {
                let before = self.authors.len();
                self.authors.retain(|_, author| author.email < *email);
                Ok((before - self.authors.len()) as u64)
            }
            Op::InsertPosts(posts) => {
                for post in posts {
                    if self.posts.insert(post.id, post.clone()).is_some() {
                        return Err(ErrorKind::DuplicateKey);
                    }
                }
                Ok(posts.len() as u64)
            }
            Op::ReplacePost { post, upsert } => {
                if !upsert && !self.posts.contains_key(&post.id) {
                    return Err(ErrorKind::NotFound);
                }
                self.posts.insert(post.id, post.clone());
                Ok(0)
            }
            Op::Score { author, least, by } => {
                let mut matched = 0;
                for post in self.posts.values_mut() {
                    if *post.author.id() == *author && post.score >= *least {
                        post.score += by;
                        matched += 1;
                    }
                }
                Ok(matched)
            }
            Op::Relate(id, to) => {
                let post = self.posts.get_mut(id).ok_or(ErrorKind::NotFound)?;
                post.related.push(Ref::new(*to));
                Ok(0)
            }
            Op::Unrelate(to) => {
                let mut modified = 0;
                for post in self.posts.values_mut() {
                    let before = post.related.len();
                    post.related.retain(|related| related.id() != to);
                    modified += u64::from(post.related.len() != before);
                }
                Ok(modified)
            }
            Op::Move { from, to } => {
                let mut matched = 0;
                for post in self.posts.values_mut().filter(|post| post.author.id() == from) {
                    post.author = Ref::new(*to);
                    matched += 1;
                }
                Ok(matched)
            }
            Op::DeletePost(id) => Ok(self.posts.remove(id).is_some().into()),
            Op::DeletePostsOf(author) => {
                let before = self.posts.len();
                self.posts.retain(|_, post| post.author.id() != author);
                Ok((before - self.posts.len()) as u64)
            }
        }
    }

    /// The checks after a unit. Only a delete can remove the target of a reference, and only an added reference can dangle.
    fn check(&self, before: &Model) -> Result<(), ErrorKind> {
        let mut emails = BTreeSet::new();
        let mut slugs = BTreeSet::new();
        if !self.authors.values().all(|author| emails.insert(&author.email))
            || !self
                .posts
                .values()
                .filter_map(|post| post.slug.as_ref())
                .all(|slug| slugs.insert(slug))
        {
            return Err(ErrorKind::DuplicateKey);
        }
        let deleted =
            self.authors.len() < before.authors.len() || self.posts.len() < before.posts.len();
        let mentors = self.authors.values().filter_map(|author| author.mentor.as_ref());
        let whole = mentors.into_iter().all(|mentor| self.authors.contains_key(mentor.id()))
            && self.posts.values().all(|post| self.authors.contains_key(post.author.id()))
            && self
                .posts
                .values()
                .flat_map(|post| &post.related)
                .all(|id| self.posts.contains_key(id.id()));
        match (whole, deleted) {
            (true, _) => Ok(()),
            (false, true) => Err(ErrorKind::Restricted),
            (false, false) => Err(ErrorKind::DanglingReference),
        }
    }
}
