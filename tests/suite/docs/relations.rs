//! The code of `docs/relations.md`.

use odm::{Embedded, Result, prelude::*};
use serde::{Deserialize, Serialize};

/// Embedded documents.
mod embedded {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Embed)]
    struct Address {
        street: String,
        city: String,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "people", new = "NewPerson")]
    struct Person {
        #[serde(rename = "_id")]
        #[id(sequence)]
        id: i64,
        name: String,
        #[embed]
        home: Option<Address>, // one-to-one
        #[embed]
        #[validate(max_items = 20)]
        addresses: Vec<Address>, // one-to-few
    }

    #[derive(Database)]
    #[database(name = "people", version = 1)]
    struct People {
        people: Repository<Person>,
    }

    #[tokio::test]
    async fn a_person_has_addresses() -> Result<()> {
        let db = People::open(Embedded::memory().await?).await?;
        let address = |city: &str| Address { street: "1 Some Avenue".into(), city: city.into() };
        let joe = NewPerson {
            name: "Joe".into(),
            home: Some(address("Faketon")),
            addresses: vec![address("Faketon"), address("Boston")],
        };
        let joe = db.people.insert(joe).await?;
        let person = Person::fields();
        let in_boston =
            db.people.find(person.addresses.any(|address| address.city.eq("Boston"))).await?;
        let moved = db.people.update(joe.id).update_each(
            person.addresses,
            |address| address.city.eq("Boston"),
            |address, changes| changes.set(address.city, "Cambridge"),
        );
        moved.await?;
        assert_eq!(in_boston.len(), 1);
        let read = db.people.get(joe.id).await?;
        assert_eq!(read.addresses[1].city, "Cambridge");
        assert_eq!(read.addresses[1].street, "1 Some Avenue");
        assert_eq!(
            (read.name.as_str(), read.home.map(|home| home.city)),
            ("Joe", Some("Faketon".into()))
        );
        Ok(())
    }
}

/// References from one side.
mod many {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "parts", new = "NewPart")]
    struct Part {
        #[serde(rename = "_id")]
        #[id(sequence)]
        id: i64,
        name: String,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "products", new = "NewProduct")]
    struct Product {
        #[serde(rename = "_id")]
        #[id(sequence)]
        id: i64,
        name: String,
        #[reference(child)]
        parts: Vec<Ref<Part>>,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "hosts")]
    struct Host {
        #[serde(rename = "_id")]
        name: String,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "messages", new = "NewMessage", index(fields = "host, -time"))]
    struct Message {
        #[serde(rename = "_id")]
        #[id(auto)]
        id: ObjectId,
        #[reference(parent, on_delete = "cascade")]
        host: Ref<Host>,
        time: DateTime,
        text: String,
    }

    #[derive(Database)]
    #[database(name = "many", version = 1)]
    struct Shop {
        parts: Repository<Part>,
        products: Repository<Product>,
        hosts: Repository<Host>,
        messages: Repository<Message>,
    }

    #[tokio::test]
    async fn products_are_joined_with_their_parts() -> Result<()> {
        let shop = Shop::open(Embedded::memory().await?).await?;
        let names = ["bolt", "nut"].map(|name| NewPart { name: name.into() });
        let parts = shop.parts.insert_many(names).await?;
        let chair =
            NewProduct { name: "chair".into(), parts: parts.iter().rev().map(Ref::from).collect() };
        let chair = shop.products.insert(chair).await?;
        let rows: Vec<(Product, Vec<Part>)> =
            shop.products.all().limit(50).join(Product::fields().parts).await?;
        let of_bolts =
            shop.products.all().whose(Product::fields().parts, Part::fields().name.eq("bolt"));
        assert_eq!(rows[0].0.name, "chair");
        let joined: Vec<_> = rows[0].1.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(joined, ["nut", "bolt"]);
        assert_eq!(of_bolts.await?[0].id, chair.id);
        assert!(shop.parts.delete(parts[0].id).await.unwrap_err().is_restricted());
        Ok(())
    }

    #[tokio::test]
    async fn messages_are_found_by_their_host() -> Result<()> {
        let shop = Shop::open(Embedded::memory().await?).await?;
        let host = shop.hosts.insert(Host { name: "goofy".into() }).await?;
        for minute in 0..30 {
            let time = DateTime::from_millis(minute * 60_000);
            let text = format!("message {minute}");
            let host = Ref::from(&host);
            shop.messages.insert(NewMessage { host, time, text }).await?;
        }
        let newest_first = || Message::fields().time.desc();
        let page = shop.messages.of(&host).sort(newest_first()).page(20).await?;
        // page.items, and page.next for .after(..) of the next request
        assert_eq!(page.items[0].text, "message 29");
        let next = page.next.expect("there are 30 messages");
        let rest = shop.messages.of(&host).sort(newest_first()).after(&next).page(20).await?;
        assert_eq!((rest.items.len(), rest.items[9].time), (10, DateTime::from_millis(0)));
        shop.hosts.delete(&host).await?;
        assert_eq!(shop.messages.all().count().await?, 0);
        Ok(())
    }
}

/// References from both sides.
mod both {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "people", new = "NewPerson")]
    struct Person {
        #[serde(rename = "_id")]
        #[id(sequence)]
        id: i64,
        name: String,
        #[reference(child, inverse = "owner")]
        tasks: Vec<Ref<Task>>,
        #[reference(child, inverse = "members")]
        teams: Vec<Ref<Team>>,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "tasks", new = "NewTask")]
    struct Task {
        #[serde(rename = "_id")]
        #[id(sequence)]
        id: i64,
        title: String,
        #[reference(parent, inverse = "tasks")]
        owner: Option<Ref<Person>>,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "teams", new = "NewTeam")]
    struct Team {
        #[serde(rename = "_id")]
        #[id(sequence)]
        id: i64,
        name: String,
        #[reference(child, inverse = "teams")]
        members: Vec<Ref<Person>>,
    }

    #[derive(Database)]
    #[database(name = "tasks", version = 1)]
    struct Db {
        people: Repository<Person>,
        tasks: Repository<Task>,
        teams: Repository<Team>,
    }

    #[tokio::test]
    async fn a_task_that_moves_leaves_the_list_of_its_owner() -> Result<()> {
        let db = Db::open(Embedded::memory().await?).await?;
        let person = |name: &str| NewPerson { name: name.into(), tasks: vec![], teams: vec![] };
        let (ann, ben) =
            (db.people.insert(person("Ann")).await?, db.people.insert(person("Ben")).await?);
        let task = NewTask { title: "Write".into(), owner: Some(Ref::from(&ann)) };
        let task = db.tasks.insert(task).await?;
        assert_eq!(db.people.get(ann.id).await?.tasks, [Ref::from(&task)]);
        let team = db.teams.insert(NewTeam { name: "red".into(), members: vec![] }).await?;
        // Ben's list gets the task, and Ann's list loses it.
        db.tasks.update(task.id).set(Task::fields().owner, Some(Ref::from(&ben))).await?;
        // The team gets a member, and Ann gets a team.
        db.teams.update(team.id).push(Team::fields().members, Ref::from(&ann)).await?;
        assert_eq!(db.people.get(ann.id).await?.tasks, []);
        assert_eq!(db.people.get(ben.id).await?.tasks, [Ref::from(&task)]);
        assert_eq!(db.people.get(ann.id).await?.teams, [Ref::from(&team)]);
        db.people.delete(ben.id).await?;
        assert_eq!(db.tasks.get(task.id).await?.owner, None);
        assert_eq!(
            (ann.name.as_str(), task.title.as_str(), team.name.as_str()),
            ("Ann", "Write", "red")
        );
        Ok(())
    }
}

/// Derived fields.
mod derived {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "authors", new = "NewAuthor")]
    struct Author {
        #[serde(rename = "_id")]
        #[id(sequence)]
        id: i64,
        name: String,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "posts", new = "NewPost")]
    struct Post {
        #[serde(rename = "_id")]
        #[id(sequence)]
        id: i64,
        title: String,
        #[reference(parent)]
        author: Ref<Author>,
        #[denormalize(from = "Author.name")]
        author_name: String,
        #[subset(limit = 3, sort = "-likes", filter = shown)]
        top: Subset<TopComment>,
        #[count(of = "Comment", filter = shown)]
        comments: i64,
        #[split(collection = "post_bodies", key = "post")]
        body: Cold<Body>,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Embed)]
    struct Body {
        text: String,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "comments", new = "NewComment")]
    struct Comment {
        #[serde(rename = "_id")]
        #[id(sequence)]
        id: i64,
        #[reference(parent, on_delete = "cascade")]
        post: Ref<Post>,
        text: String,
        likes: i64,
        hidden: bool,
    }

    fn shown() -> Filter<Comment> {
        Comment::fields().hidden.eq(false)
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Projection)]
    #[projection(of = "Comment")]
    struct TopComment {
        #[serde(rename = "_id")]
        id: i64,
        text: String,
        likes: i64,
    }

    #[derive(Database)]
    #[database(name = "blog", version = 1)]
    struct Blog {
        authors: Repository<Author>,
        posts: Repository<Post>,
        comments: Repository<Comment>,
    }

    #[tokio::test]
    async fn a_post_shows_what_follows() -> Result<()> {
        let db = Blog::open(Embedded::memory().await?).await?;
        let ann = db.authors.insert(NewAuthor { name: "Ann".into() }).await?;
        let text = "It is long.".into();
        let post = NewPost {
            title: "On derived data".into(),
            author: Ref::from(&ann),
            body: Cold::new(Body { text }),
        };
        let post = db.posts.insert(post).await?;
        for (text, likes) in [("a", 1), ("b", 5), ("c", 3), ("d", 4)] {
            let comment =
                NewComment { post: Ref::from(&post), text: text.into(), likes, hidden: false };
            db.comments.insert(comment).await?;
        }
        let texts = async || -> Result<String> {
            let top = db.posts.get(post.id).await?.top;
            Ok(top.iter().map(|comment| comment.text.as_str()).collect())
        };
        assert_eq!(texts().await?, "bdc");
        db.authors.update(ann.id).set(Author::fields().name, "Anna").await?;
        db.comments.update(2).set(Comment::fields().hidden, true).await?;
        let post = db.posts.get(post.id).await?; // the new name, the next three, one comment fewer
        assert_eq!(post.author_name, "Anna");
        assert_eq!((texts().await?.as_str(), post.comments), ("dca", 3));
        let rest = db.comments.after_subset(&post, Post::fields().top).await?.page(20).await?;
        assert_eq!(rest.items.len(), 0);
        let whole = db.posts.get(post.id).with(Post::fields().body).await?;
        let long = db.posts.find(Post::fields().body.text.contains("long")).count().await?;
        assert_eq!(
            (whole.body.get().map(|body| body.text.as_str()), long),
            (Some("It is long."), 1)
        );
        assert_eq!((post.title.as_str(), db.audit().await?.len()), ("On derived data", 0));
        Ok(())
    }
}

/// Totals of children.
mod totals {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "products")]
    struct Product {
        #[serde(rename = "_id")]
        id: i64,
        #[sum(of = "Sale.cents", filter = paid)]
        revenue: i64,
        #[min(of = "Sale.cents")]
        lowest: Option<i64>,
        #[max(of = "Sale.at")]
        last_sale: Option<DateTime>,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "sales")]
    struct Sale {
        #[serde(rename = "_id")]
        id: i64,
        #[reference(parent)]
        product: Ref<Product>,
        cents: i64,
        paid: bool,
        at: DateTime,
    }

    fn paid() -> Filter<Sale> {
        Sale::fields().paid.eq(true)
    }

    #[derive(Database)]
    #[database(name = "sales", version = 1)]
    struct Sales {
        products: Repository<Product>,
        sales: Repository<Sale>,
    }

    #[tokio::test]
    async fn a_product_has_the_totals_of_its_sales() -> Result<()> {
        let db = Sales::open(Embedded::memory().await?).await?;
        let product = Product { id: 1, revenue: 0, lowest: None, last_sale: None };
        db.products.insert(product).await?;
        let day = |day: u32| format!("2026-03-{day:02}").parse::<DateTime>();
        for (id, cents, paid) in [(1, 250, true), (2, 100, false), (3, 300, true)] {
            let sale = Sale { id, product: Ref::new(1), cents, paid, at: day(id as u32)? };
            db.sales.insert(sale).await?;
        }
        db.sales.delete(3).await?;
        let product = db.products.get(1).await?;
        assert_eq!((product.revenue, product.lowest), (250, Some(100)));
        assert_eq!(product.last_sale, Some(day(2)?));
        Ok(())
    }
}

/// Copies of the referrers of a document, and a copy that stays.
mod copies {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "parts", new = "NewPart")]
    struct Part {
        #[serde(rename = "_id")]
        #[id(sequence)]
        id: i64,
        price: f64,
        // The names of all products that contain this part.
        #[denormalize(from = "Product.name", via = "Product.parts")]
        used_in: Vec<String>,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "products", new = "NewProduct")]
    struct Product {
        #[serde(rename = "_id")]
        #[id(sequence)]
        id: i64,
        name: String,
        #[reference(child)]
        parts: Vec<Ref<Part>>,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "orders", new = "NewOrder")]
    struct Order {
        #[serde(rename = "_id")]
        #[id(sequence)]
        id: i64,
        #[reference(child)]
        part: Ref<Part>,
        #[denormalize(from = "Part.price", freeze)]
        price: f64, // that of the time of the order
    }

    #[derive(Database)]
    #[database(name = "copies", version = 1)]
    struct Shop {
        parts: Repository<Part>,
        products: Repository<Product>,
        orders: Repository<Order>,
    }

    #[tokio::test]
    async fn a_frozen_copy_stays() -> Result<()> {
        let shop = Shop::open(Embedded::memory().await?).await?;
        let part = shop.parts.insert(NewPart { price: 1.5 }).await?;
        for name in ["chair", "table"] {
            let product = NewProduct { name: name.into(), parts: vec![Ref::from(&part)] };
            shop.products.insert(product).await?;
        }
        let order = shop.orders.insert(NewOrder { part: Ref::from(&part) }).await?;
        shop.parts.update(part.id).set(Part::fields().price, 2.0).await?;
        assert_eq!(shop.orders.get(order.id).await?.price, 1.5);
        let mut used_in = shop.parts.get(part.id).await?.used_in;
        used_in.sort();
        assert_eq!(used_in, ["chair", "table"]);
        Ok(())
    }
}

mod numbers {
    use odm::{Embedded, Result, prelude::*};
    use serde::{Deserialize, Serialize};

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "projects")]
    struct Project {
        #[serde(rename = "_id")]
        id: i64,
        key: String,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "issues", new = "NewIssue")]
    struct Issue {
        #[serde(rename = "_id")]
        #[id(auto)]
        id: ObjectId,
        #[reference(parent, on_delete = "cascade")]
        project: Ref<Project>,
        #[denormalize(from = "Project.key")]
        project_key: String,
        #[sequence(within = "project")]
        number: i64,
        #[computed(format!("{project_key}-{number}"))]
        label: String,
        title: String,
    }

    #[derive(Database)]
    #[database(name = "tracker", version = 1)]
    struct Tracker {
        projects: Repository<Project>,
        issues: Repository<Issue>,
    }

    #[tokio::test]
    async fn an_issue_has_the_next_number_of_its_project() -> Result<()> {
        let db = Tracker::open(Embedded::memory().await?).await?;
        for (id, key) in [(1, "WEB"), (2, "APP")] {
            db.projects.insert(Project { id, key: key.to_owned() }).await?;
        }
        for _ in 0..11 {
            db.issues.insert(NewIssue { project: Ref::new(1), title: String::new() }).await?;
        }
        let issue = NewIssue { project: Ref::new(1), title: "Broken link".to_owned() };
        let label = db.issues.insert(issue).await?.label; // "WEB-12"
        let issue = Issue::fields();
        let found =
            db.issues.find(issue.project.eq(Ref::new(1)) & issue.number.eq(12)).one().await?;
        assert_eq!((label.as_str(), found.title.as_str()), ("WEB-12", "Broken link"));
        let other = NewIssue { project: Ref::new(2), title: String::new() };
        assert_eq!(db.issues.insert(other).await?.label, "APP-1");
        Ok(())
    }
}

mod trees {
    use odm::{Embedded, Result, prelude::*};
    use serde::{Deserialize, Serialize};

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "categories")]
    struct Category {
        #[serde(rename = "_id")]
        id: i64,
        name: String,
        #[reference(parent)]
        parent: Option<Ref<Category>>,
        #[ancestors(via = "parent")]
        path: Ancestors<Category>,
        #[count(of = "Good", via = "categories")]
        goods: i64, // in the category and in all below it
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "goods")]
    struct Good {
        #[serde(rename = "_id")]
        id: i64,
        #[reference(parent)]
        category: Ref<Category>,
        #[ancestors(via = "category")]
        categories: Ancestors<Category>,
    }

    #[derive(Database)]
    #[database(name = "catalog", version = 1)]
    struct Catalog {
        categories: Repository<Category>,
        goods: Repository<Good>,
    }

    #[tokio::test]
    async fn a_category_moves_with_its_goods() -> Result<()> {
        let db = Catalog::open(Embedded::memory().await?).await?;
        for (id, parent) in [(1, None), (2, None), (3, Some(1)), (4, Some(3))] {
            let (name, parent) = (format!("{id}"), parent.map(Ref::new));
            let category = Category { id, name, parent, path: Ancestors::new(), goods: 0 };
            db.categories.insert(category).await?;
        }
        let good = Good { id: 1, category: Ref::new(4), categories: Ancestors::new() };
        db.goods.insert(good).await?;
        assert_eq!(db.categories.get(1).await?.goods, 1);
        // A category moves with all below it. The goods, and the counts of both sides, follow.
        let parent = Category::fields().parent;
        db.categories.update(3).set(parent, Some(Ref::new(2))).await?;
        // All goods below a category, and the way to one of them, from the root down.
        let below = db.goods.find(Good::fields().categories.within(2)).await?;
        let way: Vec<i64> = below[0].categories.iter().map(|category| *category.id()).collect();
        assert_eq!(way, [2, 3, 4]);
        assert_eq!((db.categories.get(1).await?.goods, db.categories.get(2).await?.goods), (0, 1));
        assert!(db.categories.update(2).set(parent, Some(Ref::new(4))).await.is_err());
        Ok(())
    }
}
