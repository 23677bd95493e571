//! The queries of the service, for the API and the pages alike.

use std::collections::HashSet;

use odm::{
    prelude::*,
    repository::{Cursor, OneDocument, Page, Query},
};

use crate::{
    failure::{Answer, Failure},
    models::*,
};

/// An update of one article.
pub type ArticleUpdate = Update<Article, OneDocument>;

/// Which articles a list has.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// Articles with a tag.
    pub tag: Option<String>,
    /// Articles of an author.
    pub author: Option<String>,
    /// Articles among the favorites of a user.
    pub favorited: Option<String>,
    /// Articles whose title or description contains a text, in any case.
    pub text: Option<String>,
    /// Articles by authors whom a user follows.
    pub followed_by: Option<ObjectId>,
}

/// A part of a list, by offset and limit.
#[derive(Debug, Clone, Copy)]
pub struct Slice {
    /// How many articles to skip.
    pub offset: u64,
    /// How many to return, at least one.
    pub limit: u64,
}

/// A part of a list, by the cursor of another part: it does not shift when an article is published.
#[derive(Debug, Clone)]
pub enum Side {
    /// The newest articles.
    First,
    /// The articles after a position.
    After(Cursor),
    /// The articles before a position.
    Before(Cursor),
}

/// A user's input for an article.
#[derive(Debug, Clone)]
pub struct Draft {
    /// The title.
    pub title: String,
    /// A short description.
    pub description: String,
    /// The body.
    pub body: String,
    /// The tags.
    pub tags: Vec<Ref<Tag>>,
}

/// The reader's marks on the articles and users of a page.
#[derive(Debug, Clone, Default)]
pub struct Marks {
    favorites: HashSet<ObjectId>,
    follows: HashSet<ObjectId>,
}

impl Marks {
    /// Whether the article is a favorite.
    pub fn favorited(&self, article: &Article) -> bool {
        self.favorites.contains(&article.id)
    }

    /// Whether the user is followed.
    pub fn follows(&self, user: &Ref<User>) -> bool {
        self.follows.contains(user.id())
    }
}

/// How many articles a page has.
const PAGE: u64 = 10;

/// How many tags are shown.
const TAGS: u64 = 20;

impl Conduit {
    /// Returns the user with a name, in any case.
    pub async fn user_named(&self, username: &str) -> Answer<User> {
        let name = User::fields().username_folded;
        let found = self.users.find(name.eq(odm::fold_case(username))).first();
        found.await?.ok_or_else(|| Failure::not_found("profile"))
    }

    /// Returns the user with an address, in any case.
    pub async fn user_by_email(&self, email: &str) -> Answer<Option<User>> {
        let address = User::fields().email_folded;
        Ok(self
            .users
            .find(address.eq(odm::fold_case(email)))
            .first()
            .await?)
    }

    /// Makes a user follow another one.
    pub async fn follow(&self, me: &User, username: &str) -> Answer<User> {
        let other = self.user_named(username).await?;
        if other.id == me.id {
            return Err(Failure::invalid("users cannot follow themselves"));
        }
        let key = (Follow::fields().follower, Follow::fields().followed);
        let (follower, followed) = (me.into(), Ref::from(&other));
        let follow = self
            .follows
            .upsert_by(key, NewFollow { follower, followed });
        follow.keep().await?;
        Ok(self.users.get(other.id).await?)
    }

    /// Makes a user stop following another one.
    pub async fn unfollow(&self, me: &User, username: &str) -> Answer<User> {
        let (follow, other) = (Follow::fields(), self.user_named(username).await?);
        let own = follow.follower.eq(me) & follow.followed.eq(&other);
        self.follows.delete_where(own).await?;
        Ok(self.users.get(other.id).await?)
    }

    /// The query of a listing, the newest articles first.
    async fn listed(&self, listing: &Listing) -> odm::Result<Query<Article>> {
        let (article, favorite) = (Article::fields(), Favorite::fields());
        let mut found = self.articles.all();
        if let Some(tag) = &listing.tag {
            found = found.filter(article.tags.contains(tag.as_str()));
        }
        if let Some(text) = &listing.text {
            let pattern = containing(text);
            let found_in = article.title.regex(&pattern) | article.description.regex(&pattern);
            found = found.filter(found_in);
        }
        if let Some(name) = &listing.author {
            let named = User::fields().username_folded.eq(odm::fold_case(name));
            found = found.whose(article.author.id, named);
        }
        if let Some(name) = &listing.favorited {
            let named = User::fields().username_folded.eq(odm::fold_case(name));
            let user = self.users.find(named).first().await?;
            found = found.any_referrer(favorite.article, favorite.user.in_(&user));
        }
        if let Some(me) = listing.followed_by {
            let own = self.follows.find(Follow::fields().follower.eq(me));
            let followed = own.distinct(Follow::fields().followed).await?;
            found = found.filter(article.author.id.in_(followed));
        }
        Ok(found.sort(article.created_at.desc()))
    }

    /// Returns a slice of a list, with the number of all articles, and the reader's marks in it, from one state.
    pub async fn slice(
        &self,
        me: Option<&User>,
        listing: &Listing,
        slice: Slice,
    ) -> Answer<(Page<Article>, Marks)> {
        let read = self.snapshot(async |db| {
            let found = db.listed(listing).await?.skip(slice.offset).with_total();
            let page = found.page(slice.limit).await?;
            let marks = db.marks_of(me, &page.items).await?;
            Ok((page, marks))
        });
        Ok(read.await?)
    }

    /// Returns a page of a list, with the reader's marks in it, from one state.
    pub async fn page(
        &self,
        me: Option<&User>,
        listing: &Listing,
        side: &Side,
    ) -> Answer<(Page<Article>, Marks)> {
        let read = self.snapshot(async |db| {
            let found = db.listed(listing).await?;
            let found = match side {
                Side::First => found,
                Side::After(position) => found.after(position),
                Side::Before(position) => found.before(position),
            };
            let page = found.page(PAGE).await?;
            let marks = db.marks_of(me, &page.items).await?;
            Ok((page, marks))
        });
        Ok(read.await?)
    }

    /// The reader's marks on articles and their authors.
    pub async fn marks_of(&self, me: Option<&User>, shown: &[Article]) -> odm::Result<Marks> {
        let Some(me) = me else {
            return Ok(Marks::default());
        };
        let favorite = Favorite::fields();
        let own = favorite.user.eq(me) & favorite.article.in_(shown);
        let own = self.favorites.find(own).await?.into_iter();
        let favorites = own.map(|own| own.article.into_inner()).collect();
        let authors = shown.iter().map(|article| &article.author.id);
        let follows = self.followed(me, authors).await?;
        Ok(Marks { favorites, follows })
    }

    /// The users among `users` whom a reader follows.
    pub async fn follows_of<'a>(
        &self,
        me: Option<&User>,
        users: impl IntoIterator<Item = &'a Ref<User>>,
    ) -> odm::Result<Marks> {
        let Some(me) = me else {
            return Ok(Marks::default());
        };
        let follows = self.followed(me, users).await?;
        Ok(Marks {
            follows,
            ..Marks::default()
        })
    }

    async fn followed<'a>(
        &self,
        me: &User,
        users: impl IntoIterator<Item = &'a Ref<User>>,
    ) -> odm::Result<HashSet<ObjectId>> {
        let follow = Follow::fields();
        let own = self
            .follows
            .find(follow.follower.eq(me) & follow.followed.in_(users));
        let own = own.await?.into_iter();
        Ok(own.map(|own| own.followed.into_inner()).collect())
    }

    /// Returns an article with its body.
    pub async fn article(&self, slug: &str) -> Answer<Article> {
        let found = self.articles.find(Article::fields().slug.eq(slug));
        let article = found.with(Article::fields().body).first().await?;
        article.ok_or_else(|| Failure::not_found("article"))
    }

    /// Returns an article without its body, if the user is its author.
    pub async fn own_article(&self, me: &User, slug: &str) -> Answer<Article> {
        let article = self.article_without_body(slug).await?;
        refuse_others(me, &article.author, "article")?;
        Ok(article)
    }

    async fn article_without_body(&self, slug: &str) -> Answer<Article> {
        let found = self.articles.find(Article::fields().slug.eq(slug));
        let article = found.first().await?;
        article.ok_or_else(|| Failure::not_found("article"))
    }

    /// Publishes an article.
    pub async fn publish(&self, me: &User, draft: Draft) -> Answer<Article> {
        let article = NewArticle {
            slug: slug(&draft.title),
            title: draft.title,
            description: draft.description,
            body: Cold::new(Body { text: draft.body }),
            tags: sorted(draft.tags),
            author: me.into(),
        };
        let tags = self.tags.upsert_many(stored(&article.tags));
        let (_, article) = self.bulk((tags, self.articles.insert(article))).await?;
        Ok(article)
    }

    /// Changes an article, under the condition that `unless_changed` adds to the update.
    pub async fn edit(
        &self,
        me: &User,
        slug: &str,
        mut patch: ArticlePatch,
        unless_changed: impl FnOnce(ArticleUpdate) -> ArticleUpdate,
    ) -> Answer<Article> {
        let own = self.own_article(me, slug).await?;
        patch.slug = patch.title.as_deref().map(self::slug);
        patch.tags = patch.tags.map(sorted);
        let tags = patch.tags.as_deref();
        let tags = tags.map(|tags| self.tags.upsert_many(stored(tags)));
        let update = unless_changed(self.articles.update(&own).set_all(patch));
        self.bulk((tags, update)).await?;
        Ok(self
            .articles
            .get(own.id)
            .with(Article::fields().body)
            .await?)
    }

    /// Deletes an article.
    pub async fn delete_article(&self, me: &User, slug: &str) -> Answer<()> {
        let own = self.own_article(me, slug).await?;
        self.articles.delete(own.id).await?;
        Ok(())
    }

    /// Adds an article to the favorites of a user.
    pub async fn favorite(&self, me: &User, slug: &str) -> Answer<Article> {
        let key = (Favorite::fields().user, Favorite::fields().article);
        let article = Ref::from(&self.article_without_body(slug).await?);
        let user = me.into();
        let favorite = self.favorites.upsert_by(key, NewFavorite { user, article });
        favorite.keep().await?;
        self.article(slug).await
    }

    /// Removes an article from the favorites of a user.
    pub async fn unfavorite(&self, me: &User, slug: &str) -> Answer<Article> {
        let favorite = Favorite::fields();
        let article = self.article_without_body(slug).await?;
        let own = favorite.user.eq(me) & favorite.article.eq(&article);
        self.favorites.delete_where(own).await?;
        self.article(slug).await
    }

    /// Writes a comment on an article.
    pub async fn comment(&self, me: &User, slug: &str, body: String) -> Answer<Comment> {
        let comment = NewComment {
            body,
            author: me.into(),
            article: Ref::from(&self.article_without_body(slug).await?),
        };
        Ok(self.comments.insert(comment).await?)
    }

    /// Returns the comments on an article, the oldest first.
    pub async fn comments_on(&self, article: &Article) -> Answer<Vec<Comment>> {
        let comments = self.comments.of(article);
        Ok(comments.sort(Comment::fields().id.asc()).await?)
    }

    /// Returns the comments on an article, and the reader's marks on their authors, from one snapshot.
    pub async fn comments(&self, me: Option<&User>, slug: &str) -> Answer<(Vec<Comment>, Marks)> {
        self.try_snapshot(async |db| {
            let article = db.article_without_body(slug).await?;
            let comments = db.comments_on(&article).await?;
            let authors = comments.iter().map(|comment| &comment.author.id);
            let marks = db.follows_of(me, authors).await?;
            Ok((comments, marks))
        })
        .await
    }

    /// Deletes a comment.
    pub async fn delete_comment(&self, me: &User, slug: &str, id: i64) -> Answer<()> {
        let article = self.article_without_body(slug).await?;
        let comments = self.comments.of(&article);
        let comment = comments.filter(Comment::fields().id.eq(id)).first().await?;
        let comment = comment.ok_or_else(|| Failure::not_found("comment"))?;
        refuse_others(me, &comment.author, "comment")?;
        self.comments.delete(id).await?;
        Ok(())
    }

    /// Returns the most used tags.
    pub async fn popular_tags(&self) -> Answer<Vec<Tag>> {
        let articles = Tag::fields().articles;
        let used = self.tags.find(articles.gt(0)).sort(articles.desc());
        Ok(used.limit(TAGS).await?)
    }
}

/// Sorts the tags, and removes duplicates.
fn sorted(mut tags: Vec<Ref<Tag>>) -> Vec<Ref<Tag>> {
    tags.sort_by(|one, other| one.id().cmp(other.id()));
    tags.dedup();
    tags
}

/// The documents of the tags, which are stored before the article.
fn stored(tags: &[Ref<Tag>]) -> impl Iterator<Item = Tag> {
    tags.iter().map(|tag| Tag {
        text: tag.id().clone(),
        articles: 0,
    })
}

fn refuse_others(me: &User, author: &Author, what: &str) -> Answer<()> {
    match author.id == Ref::from(me) {
        true => Ok(()),
        false => Err(Failure::forbidden(what)),
    }
}

/// The regular expression of texts that contain this one, in any case. All of it is quoted, from `\Q` to `\E`.
fn containing(text: &str) -> String {
    format!(r"(?i)\Q{}\E", text.replace(r"\E", r"\E\\E\Q"))
}

#[cfg(test)]
mod tests {
    use odm::Embedded;

    use super::*;
    use crate::{auth::Auth, seed};

    #[tokio::test]
    async fn a_page_of_a_list_reads_its_articles_and_no_others() {
        let db = Conduit::open(Embedded::memory().await.unwrap())
            .await
            .unwrap();
        let auth = Auth::new(b"of no use here").unwrap();
        seed::fill(&db, &auth, 120).await.unwrap();
        let reader = db.user_named("user1").await.unwrap();
        let given = |text: &str| Some(text.to_owned());
        let all = Listing::default();
        let of_tag = Listing {
            tag: given("bread"),
            ..all.clone()
        };
        let of_author = Listing {
            author: given("user3"),
            ..all.clone()
        };
        let feed = Listing {
            followed_by: Some(reader.id),
            ..all.clone()
        };
        for (listing, index, keys) in [
            (&all, "created_at_-1", 5),
            (&of_tag, "tags_1_created_at_-1", 5),
            (&of_author, "author.id_1_created_at_-1", 5),
            // The articles of each of the eleven authors are merged by their times.
            (&feed, "author.id_1_created_at_-1", 5 + 11),
        ] {
            let found = db.listed(listing).await.unwrap();
            let explain = found.clone().limit(5).explain().await.unwrap();
            assert_eq!(explain.index.as_deref(), Some(index), "{listing:?}");
            assert!(explain.sorted_by_index, "{listing:?}");
            assert_eq!(explain.cost.documents_examined, 5, "{listing:?}");
            assert!(
                explain.cost.keys_examined <= keys,
                "{listing:?} {:?}",
                explain.cost
            );
            // The count, too, reads keys alone.
            let (counted, cost) = odm::measure(found.count()).await;
            assert!(counted.unwrap() > 5, "{listing:?}");
            // A name or a feed takes the reads of a few users.
            assert!(cost.documents_examined <= 1, "{listing:?} {cost:?}");
        }
        // The favorites of a reader are found first, then their articles.
        let favorites = Listing {
            favorited: given("user1"),
            ..all.clone()
        };
        let found = db.listed(&favorites).await.unwrap();
        let all = found.clone().count().await.unwrap();
        let explain = found.limit(5).explain().await.unwrap();
        assert_eq!(
            (explain.index.as_deref(), explain.cost.documents_examined),
            (Some("_id"), all)
        );
    }

    #[tokio::test]
    async fn an_article_is_read_by_its_slug_without_those_beside_it() {
        let db = Conduit::open(Embedded::memory().await.unwrap())
            .await
            .unwrap();
        let auth = Auth::new(b"of no use here").unwrap();
        seed::fill(&db, &auth, 20).await.unwrap();
        let newest = db.articles.all().first().await.unwrap().unwrap();
        let (article, cost) = odm::measure(db.article(&newest.slug)).await;
        assert!(article.unwrap().body.is_loaded());
        // The article and its body.
        assert_eq!(cost.documents_examined, 2, "{cost:?}");
        let (tags, cost) = odm::measure(db.popular_tags()).await;
        assert_eq!(
            cost.documents_examined,
            tags.unwrap().len() as u64,
            "{cost:?}"
        );
    }

    #[test]
    fn a_text_to_search_for_is_no_pattern() {
        assert_eq!(containing("a.*"), r"(?i)\Qa.*\E");
        assert_eq!(containing(r"a\Eb"), r"(?i)\Qa\E\\E\Qb\E");
    }
}
