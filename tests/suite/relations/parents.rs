//! Parents that are referenced from embedded values and from lists.

use odm::{prelude::*, store::embedded::Embedded};
use odm_store_suite::MapStore;
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_every_store};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "users")]
struct User {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[count(of = "Article")]
    articles: i64,
    #[subset(limit = 2, sort = "-_time", via = "author.id")]
    newest: Subset<ArticleLine>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "tags")]
struct Tag {
    #[serde(rename = "_id")]
    id: i32,
    #[count(of = "Article")]
    articles: i32,
    #[subset(limit = -2, sort = "_time")]
    last: Subset<ArticleLine>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "places")]
struct Place {
    #[serde(rename = "_id")]
    id: i32,
    #[count(of = "Article")]
    articles: i64,
    #[count(of = "Article", via = "hints.place", filter = late)]
    late: i64,
    #[subset(limit = 2, sort = "_time")]
    first: Subset<ArticleLine>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "articles")]
struct Article {
    #[serde(rename = "_id")]
    id: i32,
    #[embed]
    author: Author,
    _time: i32,
    #[reference(parent, on_delete = "pull")]
    tags: Vec<Ref<Tag>>,
    #[embed]
    hints: Vec<Hint>,
    #[serde(flatten)]
    #[embed]
    source: Source,
    #[embed]
    cover: Option<Cover>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Author {
    #[denormalize(from = "User.name")]
    name: String,
    #[reference(parent, on_delete = "cascade")]
    id: Ref<User>,
}

/// It wraps one parent, and another field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Hint {
    page: i32,
    #[reference(parent, on_delete = "pull")]
    place: Ref<Place>,
}

/// Its fields are stored in the article.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Source {
    #[reference(parent, on_delete = "nullify")]
    paper: Option<Ref<Paper>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "papers")]
struct Paper {
    #[serde(rename = "_id")]
    id: i32,
    #[count(of = "Article")]
    articles: i64,
}

/// A picture is the cover of one article at most.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Cover {
    #[reference(parent, one)]
    picture: Ref<Picture>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "pictures")]
struct Picture {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Article")]
struct ArticleLine {
    #[serde(rename = "_id")]
    id: i32,
    _time: i32,
}

fn late() -> Filter<Article> {
    Article::fields()._time.gte(5)
}

#[derive(Database)]
#[database(name = "press", version = 1)]
struct Press {
    users: Repository<User>,
    tags: Repository<Tag>,
    places: Repository<Place>,
    papers: Repository<Paper>,
    pictures: Repository<Picture>,
    articles: Repository<Article>,
}

const PARENTS: i32 = 3;

async fn press(store: impl TestStore) -> Press {
    let press = Press::open(store).await.unwrap();
    for id in 0..PARENTS {
        press.users.insert(user(id)).await.unwrap();
        press.tags.insert(tag(id)).await.unwrap();
        press.places.insert(place(id)).await.unwrap();
        press.papers.insert(Paper { id, articles: 0 }).await.unwrap();
        press.pictures.insert(Picture { id }).await.unwrap();
    }
    press
}

fn user(id: i32) -> User {
    let name = format!("user {id}");
    let newest = Subset::new();
    User { id, name, articles: 0, newest }
}

fn tag(id: i32) -> Tag {
    let last = Subset::new();
    Tag { id, articles: 0, last }
}

fn place(id: i32) -> Place {
    let first = Subset::new();
    Place { id, articles: 0, late: 0, first }
}

fn article(id: i32, user: i32, time: i32, tags: &[i32], places: &[i32]) -> Article {
    let author = Author { name: String::new(), id: Ref::new(user) };
    let tags = tags.iter().map(|&tag| Ref::new(tag)).collect();
    let hint = |&place| Hint { page: 1, place: Ref::new(place) };
    let hints = places.iter().map(hint).collect();
    let source = Source { paper: (time % 2 == 0).then(|| Ref::new(user)) };
    Article { id, author, _time: time, tags, hints, source, cover: None }
}

#[derive(Debug, Clone)]
enum Act {
    Put(Article),
    Move(i32, i32),
    Retag(i32, Vec<i32>),
    Unhint(i32, i32),
    Time(i32, i32),
    Delete(i32),
    /// Deletes a parent of each kind and inserts it anew: its referrers are changed by their delete rules.
    Renew(i32),
}

fn acts() -> impl Strategy<Value = Act> {
    let ids = || proptest::collection::vec(0..PARENTS, 0..4);
    let put = (0..6, 0..PARENTS, 0..10, ids(), ids());
    prop_oneof![
        6 => put.prop_map(|(id, user, time, tags, places)| {
            Act::Put(article(id, user, time, &tags, &places))
        }),
        2 => (0..6, 0..PARENTS).prop_map(|(id, user)| Act::Move(id, user)),
        2 => (0..6, ids()).prop_map(|(id, tags)| Act::Retag(id, tags)),
        1 => (0..6, 0..PARENTS).prop_map(|(id, place)| Act::Unhint(id, place)),
        2 => (0..6, 0..10).prop_map(|(id, time)| Act::Time(id, time)),
        1 => (0..6).prop_map(Act::Delete),
        1 => (0..PARENTS).prop_map(Act::Renew),
    ]
}

async fn act(press: &Press, act: Act) -> odm::Result<()> {
    let fields = Article::fields();
    let of = |id: i32| press.articles.update_where(fields.id.eq(id));
    match act {
        Act::Put(article) => drop(press.articles.upsert(article).await?),
        Act::Move(id, user) => drop(of(id).set(fields.author.id, Ref::new(user)).await?),
        Act::Retag(id, tags) => {
            let tags: Vec<Ref<Tag>> = tags.into_iter().map(Ref::new).collect();
            of(id).set(fields.tags, tags).await?;
        }
        Act::Unhint(id, place) => {
            of(id).pull_where(fields.hints, |hint| hint.place.eq(place)).await?;
        }
        Act::Time(id, time) => drop(of(id).set(fields._time, time).await?),
        Act::Delete(id) => drop(press.articles.delete(id).await?),
        Act::Renew(id) => {
            press.users.delete(id).await?;
            press.users.insert(user(id)).await?;
            press.tags.delete(id).await?;
            press.tags.insert(tag(id)).await?;
            press.places.delete(id).await?;
            press.places.insert(place(id)).await?;
            press.papers.delete(id).await?;
            press.papers.insert(Paper { id, articles: 0 }).await?;
        }
    }
    Ok(())
}

/// Compares the derived fields of the parents with the articles, by the definitions.
async fn assert_parents(press: &Press) {
    let articles = press.articles.all().await.unwrap();
    let lines = |has: &dyn Fn(&Article) -> bool| -> Vec<ArticleLine> {
        let found = articles.iter().filter(|article| has(article));
        let line = |article: &Article| ArticleLine { id: article.id, _time: article._time };
        let mut lines: Vec<_> = found.map(line).collect();
        lines.sort_by_key(|line| (line._time, line.id));
        lines
    };
    let count = |lines: &[ArticleLine]| i64::try_from(lines.len()).unwrap();
    for id in 0..PARENTS {
        let by_user = lines(&|article| *article.author.id.id() == id);
        let mut newest = by_user.clone();
        newest.sort_by_key(|line| (-line._time, line.id));
        newest.truncate(2);
        let user = press.users.get(id).await.unwrap();
        assert_eq!(user.articles, count(&by_user));
        assert_eq!(user.newest.to_vec(), newest);
        assert_found(press.articles.of(&user).await.unwrap(), &by_user);
        for article in articles.iter().filter(|article| *article.author.id.id() == id) {
            assert_eq!(article.author.name, user.name);
        }

        let tagged = lines(&|article| article.tags.contains(&Ref::new(id)));
        let tag = press.tags.get(id).await.unwrap();
        assert_eq!(i64::from(tag.articles), count(&tagged));
        assert_eq!(tag.last.to_vec(), tagged[tagged.len().saturating_sub(2)..]);
        assert_found(press.articles.of(&tag).await.unwrap(), &tagged);

        let at = |article: &Article| article.hints.iter().any(|hint| *hint.place.id() == id);
        let placed = lines(&at);
        let place = press.places.get(id).await.unwrap();
        assert_eq!(place.articles, count(&placed));
        assert_eq!(place.late, count(&lines(&|article| at(article) && article._time >= 5)));
        assert_eq!(place.first.to_vec(), placed[..placed.len().min(2)]);
        assert_found(press.articles.of(&place).await.unwrap(), &placed);

        let printed = lines(&|article| article.source.paper == Some(Ref::new(id)));
        let paper = press.papers.get(id).await.unwrap();
        assert_eq!(paper.articles, count(&printed));
        assert_found(press.articles.of(&paper).await.unwrap(), &printed);
    }
    assert_eq!(press.audit().await.unwrap(), []);
}

fn assert_found(mut found: Vec<Article>, lines: &[ArticleLine]) {
    found.sort_by_key(|article| (article._time, article.id));
    let found: Vec<i32> = found.iter().map(|article| article.id).collect();
    let expected: Vec<i32> = lines.iter().map(|line| line.id).collect();
    assert_eq!(found, expected);
}

fn histories(cases: u32, run: impl Fn(Vec<Act>) -> Press, runtime: &tokio::runtime::Runtime) {
    let mut runner = TestRunner::new(Config { cases, ..Config::default() });
    let acts = proptest::collection::vec(acts(), 1..25);
    let test = |acts| {
        let press = run(acts);
        runtime.block_on(assert_parents(&press));
        Ok(())
    };
    runner.run(&acts, test).unwrap();
}

/// Each act may be refused, and leaves the parents right.
async fn run(store: impl TestStore, acts: Vec<Act>) -> Press {
    let press = press(store).await;
    for step in acts {
        let shown = format!("{step:?}");
        match act(&press, step).await {
            Ok(()) => {}
            Err(error) if error.is_dangling_reference() => {}
            Err(error) => panic!("{shown}: {error}"),
        }
        assert_parents(&press).await;
    }
    press
}

#[test]
fn what_follows_from_references_in_values_and_lists_is_right_after_every_write() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let embedded =
        |acts| runtime.block_on(async { run(Embedded::memory().await.unwrap(), acts).await });
    histories(48, embedded, &runtime);
    let maps = |acts| runtime.block_on(async { run(MapStore::default(), acts).await });
    histories(48, maps, &runtime);
}

on_every_store! {
    async fn the_children_of_a_parent_in_a_value_are_found_joined_and_deleted(store: AnyStore) {
        let press = press(store).await;
        for (id, user) in [(1, 0), (2, 1), (3, 0)] {
            press.articles.insert(article(id, user, id, &[], &[user, user])).await.unwrap();
        }
        let fields = Article::fields();
        let sorted = fields.author.id.referrers().sort(fields._time.desc()).limit(1);
        let all = fields.author.referrers();
        let rows: Vec<(User, Vec<Article>, Vec<Article>)> =
            press.users.all().limit(2).join(sorted).join(all).await.unwrap();
        let ids = |articles: &[Article]| -> Vec<i32> {
            articles.iter().map(|article| article.id).collect()
        };
        let rows: Vec<(Vec<i32>, Vec<i32>)> =
            rows.iter().map(|(_, newest, all)| (ids(newest), ids(all))).collect();
        assert_eq!(rows, [(vec![3], vec![1, 3]), (vec![2], vec![2])]);

        let places = fields.hints.referrers();
        let rows: Vec<(Place, Vec<Article>)> =
            press.places.all().join(places).await.unwrap();
        let rows: Vec<Vec<i32>> = rows.iter().map(|(_, articles)| ids(articles)).collect();
        assert_eq!(rows, [vec![1, 3], vec![2], vec![]], "an article with two hints is joined once");

        press.users.delete(0).await.unwrap();
        let left = press.articles.all().await.unwrap();
        assert_eq!(ids(&left), vec![2]);
        assert_eq!(press.audit().await.unwrap(), []);
    }

    async fn a_parent_in_a_value_has_one_child_where_the_reference_says_so(store: AnyStore) {
        let press = press(store).await;
        let cover = |picture: i32| Some(Cover { picture: Ref::new(picture) });
        let first = Article { cover: cover(1), ..article(1, 0, 0, &[], &[]) };
        press.articles.insert(first.clone()).await.unwrap();
        let second = Article { cover: cover(1), ..article(2, 0, 0, &[], &[]) };
        assert!(press.articles.insert(second).await.unwrap_err().is_duplicate_key());
        let picture = press.pictures.get(1).await.unwrap();
        let covered: Option<Article> = press.articles.of(&picture).await.unwrap();
        assert_eq!(covered.map(|article| article.id), Some(1));
        let other: Option<Article> = press.articles.of(&Picture { id: 2 }).await.unwrap();
        assert_eq!(other, None);
    }

    async fn a_subset_by_a_reference_in_a_value_is_continued(store: AnyStore) {
        let press = press(store).await;
        for id in 1..=5 {
            press.articles.insert(article(id, 0, id, &[], &[])).await.unwrap();
        }
        let user = press.users.get(0).await.unwrap();
        let rest = press.articles.after_subset(&user, User::fields().newest).await.unwrap();
        let rest: Vec<i32> = rest.await.unwrap().iter().map(|article| article.id).collect();
        assert_eq!(rest, [3, 2, 1]);
    }
}
