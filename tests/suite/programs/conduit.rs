//! The data of the RealWorld specification ("Conduit"), a blog with followers, favorites and comments: its models, and the queries of its
//! endpoints. Nothing here maintains derived data: the attributes declare it.
//!
//! The tests below call the repositories directly for endpoints that take one call, such as `users.insert(user)`.

use std::collections::HashSet;

use odm::{Error, ErrorKind, Result, prelude::*, query::count, repository::Query};
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_local_stores};

/// A user, who is the author of articles and comments.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "users", new(name = "NewUser", derive(Debug, Deserialize)))]
struct User {
    #[serde(rename = "_id")]
    #[id(auto)]
    id: ObjectId,
    #[index(unique, case_insensitive)]
    username: String,
    #[index(unique, case_insensitive)]
    email: String,
    password_hash: String,
    bio: Option<String>,
    image: Option<String>,
    #[serde(default)]
    #[reference(child, on_delete = "pull")]
    following: Vec<Ref<User>>,
}

/// The changes of a user by an update.
#[derive(Debug, Default, Deserialize, Patch)]
#[patch(of = "User")]
struct UserPatch {
    username: Option<String>,
    email: Option<String>,
    password_hash: Option<String>,
    #[serde(default, deserialize_with = "odm::present")]
    bio: Option<Option<String>>,
    #[serde(default, deserialize_with = "odm::present")]
    image: Option<Option<String>>,
}

/// The author of an article or a comment, with the shown fields of the user.
#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Author {
    #[reference(parent, on_delete = "cascade")]
    id: Ref<User>,
    #[denormalize(from = "User.username")]
    username: String,
    #[denormalize(from = "User.bio")]
    bio: Option<String>,
    #[denormalize(from = "User.image")]
    image: Option<String>,
}

/// An article. Lists of articles do not read the bodies.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "articles", new = "NewArticle", index(fields = "author.id, -created_at"))]
struct Article {
    #[serde(rename = "_id")]
    #[id(auto)]
    id: ObjectId,
    #[index(unique)]
    slug: String,
    title: String,
    description: String,
    #[split(collection = "bodies", key = "article")]
    body: Cold<Body>,
    #[index]
    tags: Vec<String>,
    #[embed]
    author: Author,
    #[count(of = "Favorite")]
    favorites: i64,
    #[created_at]
    #[index]
    created_at: DateTime,
    #[updated_at]
    updated_at: DateTime,
}

/// The body of an article.
#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Body {
    text: String,
}

/// The input of an author.
#[derive(Debug, Deserialize)]
struct Draft {
    title: String,
    description: String,
    body: String,
    #[serde(default, rename = "tagList")]
    tags: Vec<String>,
}

/// The changes of an article by an update.
#[derive(Debug, Default, Deserialize, Patch)]
#[patch(of = "Article")]
struct ArticlePatch {
    title: Option<String>,
    description: Option<String>,
    #[patch(path = "body.text")]
    body: Option<String>,
}

/// A favorite of a user.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "favorites", new = "NewFavorite", unique(fields = "user, article"))]
struct Favorite {
    #[serde(rename = "_id")]
    #[id(auto)]
    id: ObjectId,
    #[reference(parent, on_delete = "cascade")]
    user: Ref<User>,
    #[reference(parent, on_delete = "cascade")]
    article: Ref<Article>,
}

/// A comment. Its number is shown.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "comments", new = "NewComment")]
struct Comment {
    #[serde(rename = "_id")]
    #[id(sequence)]
    id: i64,
    body: String,
    #[embed]
    author: Author,
    #[reference(parent, on_delete = "cascade")]
    article: Ref<Article>,
    #[created_at]
    created_at: DateTime,
    #[updated_at]
    updated_at: DateTime,
}

/// All collections.
#[derive(Database)]
#[database(name = "conduit", version = 1)]
struct Conduit {
    users: Repository<User>,
    articles: Repository<Article>,
    favorites: Repository<Favorite>,
    comments: Repository<Comment>,
}

/// Which articles a list has.
#[derive(Debug, Default, Deserialize)]
struct Listing {
    tag: Option<String>,
    author: Option<String>,
    favorited: Option<String>,
    limit: Option<u64>,
    #[serde(default)]
    offset: u64,
}

impl User {
    fn follows(&self, author: &Author) -> bool {
        self.following.contains(&author.id)
    }
}

impl Conduit {
    async fn profile(&self, username: &str) -> Result<User> {
        let name = User::fields().username;
        self.users.find(name.eq_ignore_case(username)).one().await
    }

    async fn user_by_email(&self, email: &str) -> Result<User> {
        let address = User::fields().email;
        self.users.find(address.eq_ignore_case(email)).one().await
    }

    async fn follow(&self, me: &User, username: &str) -> Result<User> {
        let other = self.profile(username).await?;
        let follow = self.users.update(me);
        follow.add_to_set(User::fields().following, &other).await?;
        Ok(other)
    }

    async fn unfollow(&self, me: &User, username: &str) -> Result<User> {
        let other = self.profile(username).await?;
        let unfollow = self.users.update(me);
        unfollow.pull(User::fields().following, &other).await?;
        Ok(other)
    }

    /// A page of the requested articles, the newest first, and the number of all.
    async fn articles(&self, listing: &Listing) -> Result<(Vec<Article>, u64)> {
        let (article, favorite) = (Article::fields(), Favorite::fields());
        let tag = listing.tag.as_deref().map(|tag| article.tags.contains(tag));
        let author = article.author.username.eq_opt(listing.author.as_deref());
        let mut found = self.articles.find(Filter::all_of(tag) & author);
        if let Some(username) = &listing.favorited {
            let user = self.profile(username).await?;
            found = found.any_referrer(favorite.article, favorite.user.eq(&user));
        }
        page(found, listing).await
    }

    /// A page of the articles of the users whom the reader follows.
    async fn feed(&self, me: &User, listing: &Listing) -> Result<(Vec<Article>, u64)> {
        let author = Article::fields().author.id;
        page(self.articles.find(author.in_(&me.following)), listing).await
    }

    /// The reader's favorites among the articles.
    async fn favorites_of(&self, me: &User, articles: &[Article]) -> Result<HashSet<ObjectId>> {
        let (fields, ids) = (Favorite::fields(), articles.iter().map(|article| article.id));
        let own = fields.user.eq(me) & fields.article.in_(ids);
        let own = self.favorites.find(own).await?.into_iter();
        Ok(own.map(|favorite| *favorite.article.id()).collect())
    }

    async fn article(&self, slug: &str) -> Result<Article> {
        let found = self.articles.find(Article::fields().slug.eq(slug));
        found.with(Article::fields().body).one().await
    }

    /// The article, if the reader is its author.
    async fn own_article(&self, me: &User, slug: &str) -> Result<Article> {
        let article = self.article(slug).await?;
        refuse_others(me, &article.author)?;
        Ok(article)
    }

    async fn publish(&self, me: &User, draft: Draft) -> Result<Article> {
        let article = NewArticle {
            slug: slug(&draft.title),
            title: draft.title,
            description: draft.description,
            body: Body { text: draft.body }.into(),
            tags: draft.tags,
            author: me.into(),
        };
        self.articles.insert(article).await
    }

    async fn edit(&self, me: &User, slug: &str, patch: ArticlePatch) -> Result<Article> {
        let own = self.own_article(me, slug).await?;
        let slug = patch.title.as_deref().map(self::slug);
        let update = self.articles.update(&own).set_all(patch);
        let article = update.set_if(Article::fields().slug, slug).returning();
        self.article(&article.await?.slug).await
    }

    async fn delete_article(&self, me: &User, slug: &str) -> Result<bool> {
        let own = self.own_article(me, slug).await?;
        self.articles.delete(&own).await
    }

    async fn favorite(&self, me: &User, slug: &str) -> Result<Article> {
        let (user, article) = (me.into(), Ref::from(&self.article(slug).await?));
        let key = (Favorite::fields().user, Favorite::fields().article);
        let favorite = self.favorites.upsert_by(key, NewFavorite { user, article });
        favorite.keep().await?;
        self.article(slug).await
    }

    async fn unfavorite(&self, me: &User, slug: &str) -> Result<Article> {
        let (fields, article) = (Favorite::fields(), self.article(slug).await?);
        let own = fields.user.eq(me) & fields.article.eq(&article);
        self.favorites.delete_where(own).await?;
        self.article(slug).await
    }

    async fn comment(&self, me: &User, slug: &str, body: String) -> Result<Comment> {
        let (author, article) = (me.into(), Ref::from(&self.article(slug).await?));
        let comment = NewComment { body, author, article };
        self.comments.insert(comment).await
    }

    async fn comments_of(&self, slug: &str) -> Result<Vec<Comment>> {
        let comments = self.comments.of(&self.article(slug).await?);
        comments.sort(Comment::fields().id.asc()).await
    }

    async fn delete_comment(&self, me: &User, slug: &str, id: i64) -> Result<bool> {
        let comments = self.comments.of(&self.article(slug).await?);
        let comment = comments.filter(Comment::fields().id.eq(id)).one().await?;
        refuse_others(me, &comment.author)?;
        self.comments.delete(id).await
    }

    /// The tags, the most used first.
    async fn tags(&self) -> Result<Vec<(String, u64)>> {
        let tags = Article::fields().tags;
        let used = self.articles.all().unwind(tags).group_by(tags.element());
        used.select(count()).sort(count().desc()).await
    }
}

async fn page(found: Query<Article>, listing: &Listing) -> Result<(Vec<Article>, u64)> {
    let total = found.clone().count().await?;
    let found = found.sort(Article::fields().created_at.desc());
    let limit = listing.limit.unwrap_or(20);
    Ok((found.skip(listing.offset).limit(limit).await?, total))
}

fn refuse_others(me: &User, author: &Author) -> Result<()> {
    match author.id == Ref::from(me) {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::ReadOnly, "only its author can change it")),
    }
}

fn slug(title: &str) -> String {
    let words = title.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

// The tests.

fn new_user(name: &str) -> NewUser {
    NewUser {
        username: name.into(),
        email: format!("{name}@x.org"),
        password_hash: "..".into(),
        bio: None,
        image: None,
        following: Vec::new(),
    }
}

fn draft(title: &str, tags: &[&str]) -> Draft {
    Draft {
        title: title.into(),
        description: "About dragons".into(),
        body: format!("{title}, at length"),
        tags: tags.iter().map(|tag| tag.to_string()).collect(),
    }
}

/// Ann has written two articles, Ben one.
async fn conduit(store: impl TestStore) -> (Conduit, User, User) {
    let conduit = Conduit::open(store).await.unwrap();
    let ann = conduit.users.insert(new_user("Ann")).await.unwrap();
    let ben = conduit.users.insert(new_user("Ben")).await.unwrap();
    for (author, title, tags) in [
        (&ann, "How to train a dragon", &["dragons", "training"][..]),
        (&ben, "Dragons? No!", &["dragons"]),
        (&ann, "About me", &[]),
    ] {
        conduit.publish(author, draft(title, tags)).await.unwrap();
        // Lists are in the order of the times, in milliseconds.
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    (conduit, ann, ben)
}

async fn titles(listed: Result<(Vec<Article>, u64)>) -> (Vec<String>, u64) {
    let (articles, total) = listed.unwrap();
    (articles.into_iter().map(|article| article.title).collect(), total)
}

on_local_stores! {
    async fn users_are_found_by_name_and_mail_in_any_case(store: AnyStore) {
        let (conduit, ann, _) = conduit(store).await;
        assert_eq!(conduit.user_by_email("ANN@X.org").await.unwrap().id, ann.id);
        assert_eq!(conduit.profile("aNN").await.unwrap().id, ann.id);
        assert!(conduit.profile("cat").await.unwrap_err().is_not_found());
        let taken = conduit.users.insert(NewUser { email: "other@x.org".into(), ..new_user("ANN") }).await.unwrap_err();
        assert_eq!(taken.kind(), ErrorKind::DuplicateKey);
        assert_eq!(taken.location().and_then(|location| location.path.as_deref()), Some("username"));
    }

    async fn a_changed_user_is_changed_in_articles_and_comments(store: AnyStore) {
        let (conduit, ann, ben) = conduit(store).await;
        conduit.comment(&ann, "dragons-no", "But yes".into()).await.unwrap();
        let patch = |json| serde_json::from_str::<UserPatch>(json).unwrap();
        let image = patch(r#"{ "image": "ann.png", "bio": "I write" }"#);
        let ann = conduit.users.update(ann.id).set_all(image).returning().await.unwrap();
        assert_eq!((ann.image.as_deref(), ann.bio.as_deref()), (Some("ann.png"), Some("I write")));
        assert_eq!(conduit.article("about-me").await.unwrap().author.image.as_deref(), Some("ann.png"));
        let no_image = patch(r#"{ "image": null, "username": "Anna" }"#);
        let ann = conduit.users.update(ann.id).set_all(no_image).returning().await.unwrap();
        assert_eq!((ann.image, ann.bio.as_deref()), (None, Some("I write")));
        let comment = &conduit.comments_of("dragons-no").await.unwrap()[0];
        assert_eq!((comment.author.username.as_str(), &comment.author.image), ("Anna", &None));
        let taken = conduit.users.update(ben.id).set_all(patch(r#"{ "email": "Ann@X.ORG" }"#)).await.unwrap_err();
        assert_eq!(taken.kind(), ErrorKind::DuplicateKey);
        assert_eq!(conduit.audit().await.unwrap(), []);
    }

    async fn lists_have_what_is_asked_for_the_newest_first(store: AnyStore) {
        let (conduit, _, ben) = conduit(store).await;
        let list = |json| serde_json::from_str::<Listing>(json).unwrap();
        let all = ["About me", "Dragons? No!", "How to train a dragon"];
        assert_eq!(titles(conduit.articles(&list("{}")).await).await, (all.map(Into::into).to_vec(), 3));
        let second = list(r#"{ "limit": 1, "offset": 1 }"#);
        assert_eq!(titles(conduit.articles(&second).await).await, (vec!["Dragons? No!".into()], 3));
        let of_ann = list(r#"{ "author": "Ann", "tag": "dragons" }"#);
        assert_eq!(titles(conduit.articles(&of_ann).await).await, (vec!["How to train a dragon".into()], 1));
        conduit.favorite(&ben, "about-me").await.unwrap();
        let of_ben = list(r#"{ "favorited": "ben" }"#);
        assert_eq!(titles(conduit.articles(&of_ben).await).await, (vec!["About me".into()], 1));
        let (listed, _) = conduit.articles(&list("{}")).await.unwrap();
        let favorites = conduit.favorites_of(&ben, &listed).await.unwrap();
        assert_eq!(favorites, HashSet::from([listed[0].id]));
        assert!(listed.iter().all(|article| article.body.get().is_none()), "lists read no bodies");
        assert_eq!(conduit.tags().await.unwrap(), [("dragons".into(), 2), ("training".into(), 1)]);
    }

    async fn the_feed_has_the_articles_of_those_who_are_followed(store: AnyStore) {
        let (conduit, ann, ben) = conduit(store).await;
        assert_eq!(titles(conduit.feed(&ben, &Listing::default()).await).await, (vec![], 0));
        assert_eq!(conduit.follow(&ben, "ann").await.unwrap().id, ann.id);
        conduit.follow(&ben, "ann").await.unwrap();
        let ben = conduit.users.get(ben.id).await.unwrap();
        assert_eq!(ben.following.len(), 1);
        assert!(ben.follows(&conduit.article("about-me").await.unwrap().author));
        let feed = titles(conduit.feed(&ben, &Listing::default()).await).await;
        assert_eq!(feed, (vec!["About me".into(), "How to train a dragon".into()], 2));
        conduit.unfollow(&ben, "ann").await.unwrap();
        let ben = conduit.users.get(ben.id).await.unwrap();
        assert_eq!(titles(conduit.feed(&ben, &Listing::default()).await).await, (vec![], 0));
    }

    async fn articles_are_changed_by_their_authors(store: AnyStore) {
        let (conduit, ann, ben) = conduit(store).await;
        let patch = || serde_json::from_str::<ArticlePatch>(r#"{ "title": "All of me", "body": "Now" }"#).unwrap();
        let refused = conduit.edit(&ben, "about-me", patch()).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ReadOnly);
        let edited = conduit.edit(&ann, "about-me", patch()).await.unwrap();
        assert_eq!((edited.slug.as_str(), edited.description.as_str()), ("all-of-me", "About dragons"));
        assert_eq!(edited.body.get().unwrap().text, "Now");
        assert!(edited.updated_at > edited.created_at);
        assert!(conduit.article("about-me").await.unwrap_err().is_not_found());
        let taken = conduit.publish(&ben, draft("All of me", &[])).await.unwrap_err();
        assert_eq!(taken.kind(), ErrorKind::DuplicateKey);
        assert!(conduit.delete_article(&ann, "all-of-me").await.unwrap());
        assert_eq!(conduit.articles.all().count().await.unwrap(), 2);
        assert_eq!(conduit.audit().await.unwrap(), []);
    }

    async fn favorites_are_counted_once(store: AnyStore) {
        let (conduit, ann, ben) = conduit(store).await;
        assert_eq!(conduit.favorite(&ben, "about-me").await.unwrap().favorites, 1);
        assert_eq!(conduit.favorite(&ben, "about-me").await.unwrap().favorites, 1);
        assert_eq!(conduit.favorite(&ann, "about-me").await.unwrap().favorites, 2);
        assert_eq!(conduit.unfavorite(&ben, "about-me").await.unwrap().favorites, 1);
        assert_eq!(conduit.unfavorite(&ben, "about-me").await.unwrap().favorites, 1);
        assert!(conduit.favorite(&ben, "nothing").await.unwrap_err().is_not_found());
    }

    async fn comments_are_numbered_and_deleted_by_their_authors(store: AnyStore) {
        let (conduit, ann, ben) = conduit(store).await;
        for text in ["First", "Second"] {
            conduit.comment(&ben, "about-me", text.into()).await.unwrap();
        }
        let third = conduit.comment(&ann, "dragons-no", "Third".into()).await.unwrap();
        assert_eq!((third.id, third.author.username.as_str()), (3, "Ann"));
        assert_eq!(conduit.delete_comment(&ann, "about-me", 1).await.unwrap_err().kind(), ErrorKind::ReadOnly);
        assert!(conduit.delete_comment(&ann, "about-me", 3).await.unwrap_err().is_not_found());
        assert!(conduit.delete_comment(&ben, "about-me", 1).await.unwrap());
        let left = conduit.comments_of("about-me").await.unwrap();
        assert_eq!(left.iter().map(|comment| comment.body.as_str()).collect::<Vec<_>>(), ["Second"]);
    }

    async fn a_deleted_user_is_gone_with_all_of_it(store: AnyStore) {
        let (conduit, ann, ben) = conduit(store).await;
        conduit.follow(&ben, "ann").await.unwrap();
        conduit.favorite(&ben, "about-me").await.unwrap();
        conduit.favorite(&ann, "dragons-no").await.unwrap();
        conduit.comment(&ann, "dragons-no", "Mine".into()).await.unwrap();
        conduit.users.delete(ann.id).await.unwrap();
        let left = titles(conduit.articles(&Listing::default()).await).await;
        assert_eq!(left, (vec!["Dragons? No!".into()], 1));
        assert_eq!(conduit.article("dragons-no").await.unwrap().favorites, 0);
        assert_eq!(conduit.comments.all().count().await.unwrap() + conduit.favorites.all().count().await.unwrap(), 0);
        assert!(conduit.users.get(ben.id).await.unwrap().following.is_empty());
        assert_eq!(conduit.audit().await.unwrap(), []);
    }
}
