//! The stored documents, read without the library's models, and their derived fields by the definitions.

use std::{cmp::Reverse, collections::BTreeMap};

use odm::bson::{self, Document, RawDocumentBuf};
use serde::{Deserialize, de::DeserializeOwned};
use tests::{TestStore, stored};

use super::acts::Copies;

type All<T> = BTreeMap<i32, T>;

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Author {
    name: String,
    posts: i64,
    talk: Vec<i64>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Bio {
    author: i32,
    mentor: Option<i32>,
    mentor_posts: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Editor {
    name: String,
    blogs: Vec<i32>,
    liveliest: Vec<BlogLine>,
    crowded: i64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct BlogLine {
    title: String,
    lively: i32,
    silent: i64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Blog {
    title: String,
    editor: Option<i32>,
    editor_name: Option<String>,
    top: Vec<PostLine>,
    lively: i32,
    silent: i64,
    by_busy: i64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct PostLine {
    title: String,
    comments: i64,
    author_name: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Post {
    title: String,
    blog: i32,
    author: Option<i32>,
    author_name: Option<String>,
    author_posts: Option<i64>,
    blog_top: Vec<PostLine>,
    comments: i64,
    best: Vec<CommentLine>,
    tags: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct CommentLine {
    #[serde(rename = "_id")]
    id: i32,
    likes: i64,
    post_author: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Comment {
    post: i32,
    hidden: bool,
    post_title: String,
    post_author: Option<String>,
    likes: i64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Like {
    comment: i32,
    author: Option<String>,
    fan: Option<i32>,
    fan_posts: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Award {
    post: i32,
    comments: i64,
    title_then: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Tag {
    name: String,
    owner: i32,
    posts: Vec<i32>,
    links: Vec<PostLink>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct PostLink {
    id: i32,
    comments: i64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Node {
    name: String,
    parent: Option<i32>,
    size: i64,
    largest: Vec<NodeLine>,
    parent_size: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct NodeLine {
    name: String,
    size: i64,
}

/// All stored documents.
#[derive(Debug, Clone)]
pub(crate) struct World {
    /// Every document of every collection.
    documents: BTreeMap<String, Vec<Document>>,
    authors: All<Author>,
    bios: Vec<Bio>,
    editors: All<Editor>,
    blogs: All<Blog>,
    posts: All<Post>,
    comments: All<Comment>,
    likes: All<Like>,
    awards: All<Award>,
    tags: All<Tag>,
    nodes: All<Node>,
}

/// The collections with a version, and the derived fields of their documents.
const VERSIONED: [(&str, &[&str]); 4] = [
    ("authors", &["posts", "talk"]),
    ("editors", &["liveliest", "crowded"]),
    ("blogs", &["editor_name", "top", "lively", "silent", "by_busy"]),
    ("posts", &["author_name", "author_posts", "blog_top", "comments", "best", "tags"]),
];

impl World {
    pub(crate) async fn read(store: &impl TestStore) -> World {
        let mut documents = BTreeMap::new();
        for collection in [
            "authors", "bios", "editors", "blogs", "posts", "comments", "likes", "awards", "tags",
            "nodes",
        ] {
            let stored = stored(store, collection).await;
            let stored = stored.iter().map(|raw| Document::try_from(raw).unwrap());
            documents.insert(collection.to_owned(), stored.collect::<Vec<_>>());
        }
        World {
            authors: typed(&documents, "authors"),
            bios: documents["bios"].iter().map(decode).collect(),
            editors: typed(&documents, "editors"),
            blogs: typed(&documents, "blogs"),
            posts: typed(&documents, "posts"),
            comments: typed(&documents, "comments"),
            likes: typed(&documents, "likes"),
            awards: typed(&documents, "awards"),
            tags: typed(&documents, "tags"),
            nodes: typed(&documents, "nodes"),
            documents,
        }
    }

    /// Takes the copies of a later state.
    pub(crate) fn take(&mut self, copies: &Copies) {
        let documents = |raw: &[RawDocumentBuf]| {
            let documents = raw.iter().map(|raw| Document::try_from(raw).unwrap());
            documents.collect::<Vec<_>>()
        };
        self.likes = by_id(&documents(&copies.likes));
        self.awards = by_id(&documents(&copies.awards));
    }

    /// The copy in a like of the number of posts of its fan.
    pub(crate) fn fan_posts(&self, like: i32) -> Option<i64> {
        self.likes[&like].fan_posts
    }

    /// The same documents, byte for byte.
    pub(crate) fn is(&self, other: &World) -> bool {
        self.documents == other.documents
    }

    /// Every derived field equals its definition over the others; `before` has the values that frozen copies, and copies of dangling
    /// references, keep.
    pub(crate) fn assert_right(&self, before: &World) {
        self.assert_people();
        self.assert_blogs();
        self.assert_posts();
        self.assert_small(before);
        self.assert_nodes();
    }

    fn assert_people(&self) {
        for (id, author) in &self.authors {
            let of = self.posts.values().filter(|post| post.author == Some(*id));
            assert_eq!(author.posts, of.clone().count() as i64, "author {id}");
            let mut talk = Vec::new();
            for post in of {
                if !talk.contains(&post.comments) {
                    talk.push(post.comments);
                }
            }
            assert_eq!(author.talk, talk, "author {id}");
            let bios = self.bios.iter().filter(|bio| bio.author == *id);
            assert_eq!(bios.count(), 1, "author {id}");
        }
        for bio in &self.bios {
            assert!(self.authors.contains_key(&bio.author), "{bio:?}");
            let posts = bio.mentor.map(|mentor| self.authors[&mentor].posts);
            assert_eq!(bio.mentor_posts, posts, "{bio:?}");
        }
        for (id, editor) in &self.editors {
            let of = self.blogs.iter().filter(|(_, blog)| blog.editor == Some(*id));
            let mut of: Vec<(i32, &Blog)> = of.map(|(id, blog)| (*id, blog)).collect();
            let mut named = editor.blogs.clone();
            named.sort_unstable();
            let ids: Vec<i32> = of.iter().map(|(id, _)| *id).collect();
            assert_eq!(named, ids, "editor {id}");
            let crowded = of.iter().filter(|(_, blog)| blog.lively >= 1).count();
            assert_eq!(editor.crowded, crowded as i64, "editor {id}");
            of.sort_by_key(|(id, blog)| (blog.lively, *id));
            let lines = of[of.len().saturating_sub(2)..].iter();
            let lines: Vec<BlogLine> = lines.map(|(_, blog)| blog.line()).collect();
            assert_eq!(editor.liveliest, lines, "editor {id}");
        }
    }

    fn assert_blogs(&self) {
        for (id, blog) in &self.blogs {
            let editor = blog.editor.map(|editor| self.editors[&editor].name.clone());
            assert_eq!(blog.editor_name, editor, "blog {id}");
            let of = self.posts.iter().filter(|(_, post)| post.blog == *id);
            let mut of: Vec<(i32, &Post)> = of.map(|(id, post)| (*id, post)).collect();
            let count = |counts: &dyn Fn(&Post) -> bool| {
                of.iter().filter(|(_, post)| counts(post)).count() as i64
            };
            assert_eq!(i64::from(blog.lively), count(&|post| post.comments >= 2), "blog {id}");
            assert_eq!(blog.silent, count(&|post| post.best.is_empty()), "blog {id}");
            let busy = |post: &Post| post.author_posts.is_some_and(|posts| posts >= 2);
            assert_eq!(blog.by_busy, count(&busy), "blog {id}");
            of.sort_by_key(|(id, post)| (Reverse(post.comments), *id));
            let lines = of.iter().take(2).map(|(_, post)| PostLine {
                title: post.title.clone(),
                comments: post.comments,
                author_name: post.author_name.clone(),
            });
            assert_eq!(blog.top, lines.collect::<Vec<_>>(), "blog {id}");
        }
    }

    fn assert_posts(&self) {
        for (id, post) in &self.posts {
            let author = post.author.map(|author| &self.authors[&author]);
            let name = author.map(|author| author.name.clone());
            assert_eq!(post.author_name, name, "post {id}");
            assert_eq!(post.author_posts, author.map(|author| author.posts), "post {id}");
            assert_eq!(post.blog_top, self.blogs[&post.blog].top, "post {id}");
            let of = self.comments.iter();
            let of = of.filter(|(_, comment)| comment.post == *id && !comment.hidden);
            let mut of: Vec<(i32, &Comment)> = of.map(|(id, of)| (*id, of)).collect();
            assert_eq!(post.comments, of.len() as i64, "post {id}");
            of.sort_by_key(|(id, comment)| (Reverse(comment.likes), *id));
            let lines = of.iter().take(2).map(|(id, comment)| CommentLine {
                id: *id,
                likes: comment.likes,
                post_author: comment.post_author.clone(),
            });
            assert_eq!(post.best, lines.collect::<Vec<_>>(), "post {id}");
            let mut tags: Vec<&String> = Vec::new();
            for tag in self.tags.values() {
                if tag.posts.contains(id) && !tags.contains(&&tag.name) {
                    tags.push(&tag.name);
                }
            }
            assert_eq!(post.tags.iter().collect::<Vec<_>>(), tags, "post {id}");
        }
        for (id, comment) in &self.comments {
            let post = &self.posts[&comment.post];
            assert_eq!(comment.post_title, post.title, "comment {id}");
            assert_eq!(comment.post_author, post.author_name, "comment {id}");
            let likes = self.likes.values().filter(|like| like.comment == *id);
            assert_eq!(comment.likes, likes.count() as i64, "comment {id}");
        }
    }

    fn assert_small(&self, before: &World) {
        for (id, like) in &self.likes {
            let comment = &self.comments[&like.comment];
            assert_eq!(like.author, comment.post_author, "like {id}");
            let author = like.fan.and_then(|fan| self.authors.get(&fan));
            let held = before.likes.get(id).filter(|held| held.fan == like.fan);
            let posts = match (author, held) {
                (Some(author), _) => Some(author.posts),
                (None, Some(held)) => held.fan_posts,
                (None, None) => None,
            };
            assert_eq!(like.fan_posts, posts, "like {id}");
        }
        for (id, award) in &self.awards {
            let post = self.posts.get(&award.post);
            let held = before.awards.get(id).filter(|held| held.post == award.post);
            let comments = post.map(|post| post.comments);
            let comments = comments.or(held.map(|held| held.comments));
            assert_eq!(Some(award.comments), comments, "award {id}");
            let title = held.map(|held| &held.title_then);
            let title = title.or(post.map(|post| &post.title));
            assert_eq!(Some(&award.title_then), title, "award {id}");
        }
        for (id, tag) in &self.tags {
            assert!(self.authors.contains_key(&tag.owner), "tag {id}");
            let dangling = tag.posts.iter().find(|post| !self.posts.contains_key(post));
            assert_eq!(dangling, None, "tag {id}");
            for link in &tag.links {
                assert_eq!(link.comments, self.posts[&link.id].comments, "tag {id}");
            }
        }
    }

    fn assert_nodes(&self) {
        for (id, node) in &self.nodes {
            let of = self.nodes.iter().filter(|(_, of)| of.parent == Some(*id));
            let mut of: Vec<(i32, &Node)> = of.map(|(id, node)| (*id, node)).collect();
            assert_eq!(node.size, of.len() as i64, "node {id}");
            of.sort_by_key(|(id, node)| (Reverse(node.size), *id));
            let lines = of
                .iter()
                .take(2)
                .map(|(_, node)| NodeLine { name: node.name.clone(), size: node.size });
            assert_eq!(node.largest, lines.collect::<Vec<_>>(), "node {id}");
            let size = node.parent.map(|parent| self.nodes[&parent].size);
            assert_eq!(node.parent_size, size, "node {id}");
        }
    }

    /// Versions count exactly the units that changed base data; of several units in one transaction
    /// only the first and the last state are known.
    pub(crate) fn assert_versions(&self, before: &World, units: i64) {
        for (collection, derived) in VERSIONED {
            let old: BTreeMap<i32, (i64, Vec<u8>)> = before.versions(collection, derived);
            for (id, (version, base)) in self.versions(collection, derived) {
                let (from, is_changed) = match old.get(&id) {
                    None => (0, true),
                    Some((version, held)) => (*version, *held != base),
                };
                let by = version - from;
                let least = i64::from(is_changed);
                let most = if units == 1 { least } else { units };
                // A document that was deleted and inserted again in one transaction starts anew.
                let is_anew = units > 1 && (1..=units).contains(&version);
                assert!(
                    (least..=most).contains(&by) || is_anew,
                    "`{collection}` {id}: version {from} to {version}, {units} units"
                );
            }
        }
    }

    /// The version and the base data of each document, whose order of fields counts.
    fn versions(&self, collection: &str, derived: &[&str]) -> BTreeMap<i32, (i64, Vec<u8>)> {
        let documents = self.documents[collection].iter().cloned();
        let documents = documents.map(|mut document| {
            let id = document.get_i32("_id").unwrap();
            let version = document.get_i64("revision").unwrap();
            derived.iter().for_each(|name| drop(document.remove(name)));
            document.remove("revision");
            if collection == "authors" {
                let bio = self.documents["bios"].iter();
                let mut bio = bio.filter(|bio| bio.get_i32("author").unwrap() == id).cloned();
                let mut bio = bio.next().unwrap();
                bio.remove("_id");
                bio.remove("mentor_posts");
                document.insert("bio", bio);
            }
            (id, (version, bson::serialize_to_vec(&document).unwrap()))
        });
        documents.collect()
    }
}

impl Blog {
    fn line(&self) -> BlogLine {
        BlogLine { title: self.title.clone(), lively: self.lively, silent: self.silent }
    }
}

fn typed<T: DeserializeOwned>(documents: &BTreeMap<String, Vec<Document>>, name: &str) -> All<T> {
    by_id(&documents[name])
}

fn by_id<T: DeserializeOwned>(documents: &[Document]) -> All<T> {
    let documents = documents.iter();
    let documents = documents.map(|document| (document.get_i32("_id").unwrap(), decode(document)));
    documents.collect()
}

fn decode<T: DeserializeOwned>(document: &Document) -> T {
    bson::deserialize_from_document(document.clone())
        .unwrap_or_else(|error| panic!("{error}: {document}"))
}
