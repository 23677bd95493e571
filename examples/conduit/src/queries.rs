//! The queries of the service, for the API and the pages alike.

use std::collections::HashSet;

use odm::{
    prelude::*,
    repository::{OneDocument, Page, Query},
};

use crate::{
    failure::{Answer, Failure},
    models::*,
    requests::*,
};

/// An update of one article.
pub type ArticleUpdate = Update<Article, OneDocument>;

/// A part of a list, with the reader's marks in it.
pub type Listed = (Page<Article>, Marks);

/// An article and the comments on it, with the reader's marks on it and on all authors.
pub type Discussion = (Article, Vec<Comment>, Marks);

/// The ids of the shown articles that are favorites of the reader, and of the shown users whom the reader follows.
pub type Marks = HashSet<ObjectId>;

/// How many tags are shown.
const TAGS: u64 = 20;

impl Conduit {
    /// Returns the user with a name, in any case.
    pub async fn user_named(&self, name: &str) -> Answer<User> {
        found(self.named(name), "profile").await
    }

    fn named(&self, name: &str) -> Query<User> {
        let named = User::fields().username_folded.eq(odm::fold_case(name));
        self.users.find(named)
    }

    /// Makes a user follow another one, or not any more.
    pub async fn follow(&self, me: &User, username: &str, on: bool) -> Answer<User> {
        let (follow, other) = (Follow::fields(), self.user_named(username).await?);
        if other.id == me.id {
            return Err(Failure::invalid("users cannot follow themselves"));
        }
        let (follower, followed) = (Ref::from(me), Ref::from(&other));
        if on {
            let key = (follow.follower, follow.followed);
            let new = NewFollow { follower, followed };
            self.follows.upsert_by(key, new).keep().await?;
        } else {
            let own = follow.follower.eq(follower) & follow.followed.eq(followed);
            self.follows.delete_where(own).await?;
        }
        Ok(other)
    }

    /// The articles of a list, the newest first, and how many they are, if that is stored.
    async fn listed(&self, list: &Listing) -> odm::Result<(Query<Article>, Option<u64>)> {
        let (article, favorite, follow) = (Article::fields(), Favorite::fields(), Follow::fields());
        let mut articles = self.articles.all().sort(article.created_at.desc());
        let mut counts = Vec::new();
        if let Some(tag) = &list.tag {
            articles = articles.filter(article.tags.contains(tag.as_str()));
            let tag = self.tags.get(tag).optional().await?;
            counts.push(Some(tag.map_or(0, |tag| tag.articles)));
        }
        if let Some(name) = &list.author {
            let author = self.named(name).first().await?;
            articles = articles.filter(article.author.id.in_(&author));
            counts.push(Some(author.map_or(0, |author| author.articles)));
        }
        if let Some(name) = &list.favorited {
            let reader = self.named(name).first().await?;
            articles = articles.any_referrer(favorite.article, favorite.user.in_(&reader));
            counts.push(Some(reader.map_or(0, |reader| reader.favorites)));
        }
        if let Some(me) = list.followed_by {
            let followed = self
                .users
                .all()
                .any_referrer(follow.followed, follow.follower.eq(me));
            let followed = followed.await?;
            articles = articles.filter(article.author.id.in_(&followed));
            counts.push(Some(followed.iter().map(|user| user.articles).sum()));
        }
        if let Some(text) = &list.text {
            articles = articles.filter(article.words.matches(text));
            counts.push(None);
        }
        // Several conditions, as a text, have no stored count.
        match counts[..] {
            [count] => Ok((articles, count)),
            _ => Ok((articles, None)),
        }
    }

    /// Returns a part of a list, with the number of all articles for a slice, from one state.
    pub async fn list(&self, me: Option<&User>, of: &Listing, part: &Part) -> Answer<Listed> {
        let read = self.snapshot(async |db| {
            let (articles, count) = db.listed(of).await?;
            let articles = match &part.place {
                Place::First => articles,
                Place::After(position) => articles.after(position),
                Place::Before(position) => articles.before(position),
                Place::Offset(number) if count.is_some() => articles.skip(*number),
                Place::Offset(number) => articles.skip(*number).with_total(),
            };
            let mut page = articles.page(part.limit).await?;
            page.total = page.total.or(count);
            let authors = page.items.iter().map(|article| &article.author);
            let marks = db.marks(me, &page.items, authors).await?;
            Ok((page, marks))
        });
        Ok(read.await?)
    }

    /// The reader's marks on articles and authors.
    pub async fn marks<'a>(
        &self,
        me: Option<&User>,
        articles: &[Article],
        authors: impl IntoIterator<Item = &'a Author>,
    ) -> odm::Result<Marks> {
        let Some(me) = me else {
            return Ok(Marks::default());
        };
        let (favorite, follow) = (Favorite::fields(), Follow::fields());
        let own = favorite.user.eq(me) & favorite.article.in_(articles);
        let favorites = self.favorites.find(own).distinct(favorite.article).await?;
        let users = authors.into_iter().map(|author| &author.id);
        let own = follow.follower.eq(me) & follow.followed.in_(users);
        let follows = self.follows.find(own).distinct(follow.followed).await?;
        let favorites = favorites.into_iter().map(Ref::into_inner);
        Ok(favorites
            .chain(follows.into_iter().map(Ref::into_inner))
            .collect())
    }

    /// Returns an article with its body.
    pub async fn article(&self, slug: &str) -> Answer<Article> {
        let article = Article::fields();
        let whole = self.articles.find(article.slug.eq(slug)).with(article.body);
        found(whole, "article").await
    }

    /// Returns an article with its body, if the user is its author.
    pub async fn own_article(&self, me: &User, slug: &str) -> Answer<Article> {
        let article = self.article(slug).await?;
        me.must_be(&article.author, "article")?;
        Ok(article)
    }

    /// Publishes an article.
    pub async fn publish(&self, article: NewArticle) -> Answer<Article> {
        let tags = self.tags.upsert_many(article.tags.iter().map(Tag::of));
        Ok(self.bulk((tags, self.articles.insert(article))).await?.1)
    }

    /// Changes an article by an update, which may have a condition.
    pub async fn edit(&self, update: ArticleUpdate, patch: ArticlePatch) -> Answer<Article> {
        let patch = patch.completed();
        let tags = patch.tags.iter().flatten().map(Tag::of);
        let tags = self.tags.upsert_many(tags);
        let update = update.set_all(patch).returning();
        let (_, edited) = self.bulk((tags, update)).await?;
        let whole = self.articles.get(edited.id).with(Article::fields().body);
        Ok(whole.await?)
    }

    /// Adds an article to the favorites of a user, or removes it.
    pub async fn favorite(&self, me: &User, slug: &str, on: bool) -> Answer<Article> {
        let (favorite, shown) = (Favorite::fields(), self.article(slug).await?);
        let (user, article) = (Ref::from(me), Ref::from(&shown));
        if on {
            let key = (favorite.user, favorite.article);
            let new = NewFavorite { user, article };
            self.favorites.upsert_by(key, new).keep().await?;
        } else {
            let own = favorite.user.eq(user) & favorite.article.eq(article);
            self.favorites.delete_where(own).await?;
        }
        self.article(slug).await
    }

    /// Writes a comment on an article.
    pub async fn comment(&self, me: &User, slug: &str, body: String) -> Answer<Comment> {
        let comment = NewComment {
            body,
            author: me.into(),
            article: Ref::from(&self.article(slug).await?),
        };
        Ok(self.comments.insert(comment).await?)
    }

    /// Returns an article with the comments on it, the oldest first, from one state.
    pub async fn discussion(&self, me: Option<&User>, slug: &str) -> Answer<Discussion> {
        let read = self.try_snapshot(async |db| {
            let article = db.article(slug).await?;
            let comments = db.comments.of(&article).sort(Comment::fields().id.asc());
            let comments = comments.await?;
            let authors = comments.iter().map(|comment| &comment.author);
            let shown = std::slice::from_ref(&article);
            let marks = db.marks(me, shown, authors).await?;
            Ok((article, comments, marks))
        });
        read.await
    }

    /// Deletes a comment.
    pub async fn delete_comment(&self, me: &User, slug: &str, id: i64) -> Answer<()> {
        let comments = self.comments.of(&self.article(slug).await?);
        let comment = found(comments.filter(Comment::fields().id.eq(id)), "comment").await?;
        me.must_be(&comment.author, "comment")?;
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

/// The first document of a query; `what` names it where there is none.
async fn found<T: Document>(query: Query<T>, what: &str) -> Answer<T> {
    query.first().await?.ok_or_else(|| Failure::not_found(what))
}

#[cfg(test)]
mod tests {
    use odm::Embedded;

    use super::*;
    use crate::{auth::Auth, seed};

    async fn seeded(articles: u32) -> Conduit {
        let store = Embedded::memory().await.unwrap();
        let db = Conduit::open(store).await.unwrap();
        let auth = Auth::new(b"of no use here").unwrap();
        seed::fill(&db, &auth, articles).await.unwrap();
        db
    }

    #[tokio::test]
    async fn a_page_of_a_list_reads_its_articles_and_no_others() {
        let db = seeded(120).await;
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
        let of_word = Listing {
            text: given("BREAD"),
            ..all.clone()
        };
        for (listing, index, keys) in [
            (&all, "created_at_-1", 5),
            (&of_tag, "tags_1_created_at_-1", 5),
            (&of_author, "author.id_1_created_at_-1", 5),
            (&of_word, "words_1_created_at_-1", 5),
            // The articles of each of the eleven authors are merged by their times.
            (&feed, "author.id_1_created_at_-1", 5 + 11),
        ] {
            let (found, _) = db.listed(listing).await.unwrap();
            let explain = found.limit(5).explain().await.unwrap();
            assert_eq!(explain.index.as_deref(), Some(index), "{listing:?}");
            assert!(explain.sorted_by_index, "{listing:?}");
            let cost = explain.cost;
            assert_eq!(cost.documents_examined, 5, "{listing:?}");
            assert!(cost.keys_examined <= keys, "{listing:?} {cost:?}");
        }
        // The favorites of a reader are found first, then their articles.
        let favorites = Listing {
            favorited: given("user1"),
            ..all.clone()
        };
        let (found, count) = db.listed(&favorites).await.unwrap();
        let explain = found.limit(5).explain().await.unwrap();
        assert_eq!(
            (
                explain.index.as_deref(),
                Some(explain.cost.documents_examined)
            ),
            (Some("_id"), count)
        );
    }

    #[tokio::test]
    async fn the_number_of_articles_in_a_list_is_stored_and_right() {
        let db = seeded(120).await;
        let reader = db.user_named("user1").await.unwrap();
        let given = |text: &str| Some(text.to_owned());
        let listing = |tag, author, favorited, followed_by| Listing {
            tag,
            author,
            favorited,
            followed_by,
            text: None,
        };
        for (listing, is_stored) in [
            (listing(given("bread"), None, None, None), true),
            (listing(None, given("USER3"), None, None), true),
            (listing(None, None, given("user1"), None), true),
            (listing(None, None, None, Some(reader.id)), true),
            (listing(given("nothing"), None, None, None), true),
            (listing(None, given("nobody"), None, None), true),
            (listing(given("bread"), given("user3"), None, None), false),
            (listing(None, given("user3"), given("user1"), None), false),
        ] {
            let (found, count) = db.listed(&listing).await.unwrap();
            let all = found.count().await.unwrap();
            assert_eq!(count, is_stored.then_some(all), "{listing:?}");
            let slice = Part {
                place: Place::Offset(0),
                limit: 1,
            };
            let (page, _) = db.list(None, &listing, &slice).await.unwrap();
            assert_eq!(page.total, Some(all), "{listing:?}");
        }
    }

    #[tokio::test]
    async fn a_list_of_a_tag_costs_the_same_however_many_articles_have_it() {
        const ARTICLES: usize = 1000;
        let db = seeded(4).await;
        let author = db.user_named("user1").await.unwrap();
        let draft = |n: usize| Draft {
            title: format!("Number {n}"),
            description: "d".to_owned(),
            body: "b".to_owned(),
            tags: vec![Ref::new("same".to_owned())],
        };
        db.publish(draft(0).by(&author)).await.unwrap();
        let articles = (1..ARTICLES).map(|n| draft(n).by(&author));
        db.articles.insert_many(articles).await.unwrap();
        let of_tag = Listing {
            tag: Some("same".to_owned()),
            ..Listing::default()
        };
        let slice = Part {
            place: Place::Offset(0),
            limit: 20,
        };
        let (read, cost) = odm::measure(db.list(None, &of_tag, &slice)).await;
        let (page, _) = read.unwrap();
        assert_eq!((page.items.len(), page.total), (20, Some(ARTICLES as u64)));
        // The articles of the page, one beyond it, and the tag.
        assert_eq!(cost.documents_examined, 22, "{cost:?}");
        assert!(cost.keys_examined <= 22, "{cost:?}");
    }

    #[tokio::test]
    async fn an_article_is_read_by_its_slug_without_those_beside_it() {
        let db = seeded(20).await;
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
}
