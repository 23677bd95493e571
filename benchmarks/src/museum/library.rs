//! The cases in this library.

use odm::{Embedded, prelude::*, store::contract::Store};
use serde::{Deserialize, Serialize};

use super::TASKS;

#[derive(Debug, Clone, Default, Serialize, Deserialize, Document)]
#[document(collection = "groups")]
struct Group {
    #[serde(rename = "_id")]
    id: i64,
    #[count(of = "Member")]
    members: i64,
    #[count(of = "Member", filter = marked)]
    marked: i64,
    #[count(of = "Member", filter = unmarked)]
    unmarked: i64,
    #[sum(of = "Member.points")]
    points: i64,
    #[max(of = "Member.points", filter = scored)]
    best: Option<i64>,
    #[min(of = "Member.points", filter = positive)]
    least: Option<i64>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, Document)]
#[document(collection = "places")]
struct Place {
    #[serde(rename = "_id")]
    id: i64,
    #[count(of = "Member")]
    members: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "members")]
struct Member {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    group: Ref<Group>,
    #[reference(parent)]
    place: Ref<Place>,
    points: Option<i64>,
    is_marked: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "customers")]
struct Customer {
    #[serde(rename = "_id")]
    id: i64,
    segment: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    customer: Ref<Customer>,
    #[denormalize(from = "Customer.segment")]
    segment: String,
    day: i64,
    #[sum(of = "Line.net", filter = late)]
    revenue: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    brand: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "lines")]
struct Line {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    order: Ref<Order>,
    #[reference(parent)]
    part: Ref<Part>,
    #[denormalize(from = "Part.brand")]
    brand: String,
    quantity: i64,
    price: i64,
    discount: i64,
    #[computed(price * (100 - discount))]
    net: i64,
    shipped: i64,
    #[reference(parent)]
    total: Ref<Total>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, Document)]
#[document(collection = "totals")]
struct Total {
    #[serde(rename = "_id")]
    id: i64,
    #[sum(of = "Line.price", filter = one_or_other)]
    total: i64,
}

fn marked() -> Filter<Member> {
    Member::fields().is_marked.eq(true)
}

fn unmarked() -> Filter<Member> {
    Member::fields().is_marked.eq(false)
}

fn scored() -> Filter<Member> {
    Member::fields().points.ne(None)
}

fn positive() -> Filter<Member> {
    Member::fields().points.gt(0)
}

fn late() -> Filter<Line> {
    Line::fields().shipped.gt(20)
}

fn one_or_other() -> Filter<Line> {
    let fields = Line::fields();
    let brand = |brand: &str, from: i64, to: i64| {
        fields.brand.eq(brand.to_owned()) & fields.quantity.gte(from) & fields.quantity.lte(to)
    };
    brand("A", 1, 11) | brand("B", 10, 20)
}

#[derive(Database)]
#[database(name = "museum", version = 1)]
struct Museum {
    groups: Repository<Group>,
    places: Repository<Place>,
    members: Repository<Member>,
    customers: Repository<Customer>,
    orders: Repository<Order>,
    parts: Repository<Part>,
    lines: Repository<Line>,
    totals: Repository<Total>,
}

async fn museum() -> odm::Result<Museum> {
    let db = Museum::open(Embedded::memory().await?).await?;
    let groups = [1, 2].map(|id| Group {
        id,
        ..Group::default()
    });
    db.groups.insert_many(groups).await?;
    let place = Place {
        id: 1,
        ..Place::default()
    };
    db.places.insert(place).await?;
    let total = Total {
        id: 1,
        ..Total::default()
    };
    db.totals.insert(total).await?;
    Ok(db)
}

fn member(id: i64, group: i64, points: impl Into<Option<i64>>) -> Member {
    Member {
        id,
        group: Ref::new(group),
        place: Ref::new(1),
        points: points.into(),
        is_marked: id % 2 == 1,
    }
}

pub(super) async fn emptied_group() -> anyhow::Result<String> {
    let db = museum().await?;
    let members = [1, 2].map(|id| member(id, 1, 0));
    db.members.insert_many(members).await?;
    db.members.delete(1).await?;
    db.members.delete(2).await?;
    db.members.insert(member(3, 1, 0)).await?;
    Ok(db.groups.get(1).await?.members.to_string())
}

pub(super) async fn three_counts() -> anyhow::Result<String> {
    let db = museum().await?;
    let members = [1, 2, 3, 4, 5].map(|id| member(id, 1, 0));
    db.members.insert_many(members).await?;
    let group = db.groups.get(1).await?;
    Ok(format!(
        "{}, {}, {}",
        group.members, group.marked, group.unmarked
    ))
}

pub(super) async fn two_kinds_of_groups() -> anyhow::Result<String> {
    let db = museum().await?;
    let members = [1, 2, 3].map(|id| member(id, 1, 0));
    db.members.insert_many(members).await?;
    let (group, place) = (db.groups.get(1).await?, db.places.get(1).await?);
    Ok(format!("{}, {}", group.members, place.members))
}

pub(super) async fn sum_of_zero() -> anyhow::Result<String> {
    let db = museum().await?;
    let members = [1, 2].map(|id| member(id, 1, 0));
    db.members.insert_many(members).await?;
    let fields = Member::fields();
    db.members.update(1).set(fields.is_marked, false).await?;
    db.members.update(1).set(fields.points, 5).await?;
    members_and_points(&db).await
}

async fn members_and_points(db: &Museum) -> anyhow::Result<String> {
    let group = db.groups.get(1).await?;
    Ok(format!("{}, {}", group.members, group.points))
}

pub(super) async fn greatest_becomes_less() -> anyhow::Result<String> {
    let db = museum().await?;
    let members = [member(1, 1, 1), member(2, 1, None), member(3, 1, 996)];
    db.members.insert_many(members).await?;
    db.members.update(3).set(Member::fields().points, 0).await?;
    Ok(extreme(db.groups.get(1).await?.best))
}

fn extreme(points: Option<i64>) -> String {
    points.map_or_else(|| "null".to_owned(), |points| points.to_string())
}

pub(super) async fn least_becomes_greater() -> anyhow::Result<String> {
    let db = museum().await?;
    let members = [member(1, 1, 2), member(2, 1, 0)];
    db.members.insert_many(members).await?;
    db.members.update(1).set(Member::fields().points, 3).await?;
    Ok(extreme(db.groups.get(1).await?.least))
}

pub(super) async fn one_of_two_goes() -> anyhow::Result<String> {
    let db = museum().await?;
    let members = [1, 2].map(|id| member(id, 1, 3));
    db.members.insert_many(members).await?;
    db.members.delete(1).await?;
    let group = db.groups.get(1).await?;
    Ok(format!("{}, {}", extreme(group.least), extreme(group.best)))
}

pub(super) async fn replaced() -> anyhow::Result<String> {
    let db = museum().await?;
    db.members.upsert(member(1, 1, 1)).await?;
    db.members.upsert(member(1, 1, 2)).await?;
    Ok(db.groups.get(1).await?.members.to_string())
}

pub(super) async fn unread() -> anyhow::Result<String> {
    let db = museum().await?;
    let members = [1, 2, 3, 4].map(|id| member(id, 1, 0));
    db.members.insert_many(members).await?;
    let mark = db.members.update(2);
    mark.set(Member::fields().is_marked, true).await?;
    db.members.delete(1).await?;
    let group = db.groups.get(1).await?;
    Ok(format!("{}, {}", group.members, group.marked))
}

pub(super) async fn count_after_delete() -> anyhow::Result<String> {
    let db = museum().await?;
    let members = [1, 2, 3].map(|id| member(id, 1, 0));
    db.members.insert_many(members).await?;
    db.members.delete_where(Filter::all()).await?;
    let members = [1, 2].map(|id| member(id, 1, 0));
    db.members.insert_many(members).await?;
    Ok(db.groups.get(1).await?.members.to_string())
}

pub(super) async fn counts_under_load() -> anyhow::Result<String> {
    let db = museum().await?;
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..TASKS {
        let db = db.clone();
        tasks.spawn(async move {
            for at in 0..20 {
                let id = task * 20 + at;
                db.members.insert(member(id, 1 + at % 2, 0)).await?;
                match id % 4 {
                    0 => drop(db.members.delete(id).await?),
                    1 => {
                        let go = db.members.update(id);
                        go.set(Member::fields().group, Ref::new(1)).await?;
                    }
                    _ => {}
                }
            }
            anyhow::Ok(())
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    let (one, two) = (db.groups.get(1).await?, db.groups.get(2).await?);
    let all = db.places.get(1).await?.members;
    Ok(format!("{}, {}, {all}", one.members, two.members))
}

pub(super) async fn large_sum() -> anyhow::Result<String> {
    let db = museum().await?;
    let members = [member(1, 1, 1 << 62), member(2, 1, 1)];
    db.members.insert_many(members).await?;
    Ok(db.groups.get(1).await?.points.to_string())
}

pub(super) async fn field_that_some_lack() -> anyhow::Result<String> {
    let db = museum().await?;
    let members = [member(1, 1, 10), member(2, 1, None)];
    db.members.insert_many(members).await?;
    members_and_points(&db).await
}

pub(super) async fn revenue_of_orders() -> anyhow::Result<String> {
    let db = museum().await?;
    let customers = [(1, "F"), (2, "G")].map(|(id, segment)| Customer {
        id,
        segment: segment.to_owned(),
    });
    db.customers.insert_many(customers).await?;
    let orders = [(1, 1, 10), (2, 1, 30), (3, 2, 10), (4, 1, 15)];
    db.orders.insert_many(orders.map(order)).await?;
    part(&db, 1, "A").await?;
    let lines = [
        (1, 1, 100, 10, 25),
        (2, 1, 50, 0, 30),
        (3, 1, 70, 0, 15),
        (4, 2, 80, 0, 40),
        (5, 3, 90, 0, 25),
        (6, 4, 200, 50, 21),
    ];
    let lines = lines.map(|(id, order, price, discount, shipped)| Line {
        order: Ref::new(order),
        discount,
        shipped,
        ..line(id, 1, 1, price)
    });
    db.lines.insert_many(lines).await?;
    let fields = Order::fields();
    let some = fields.segment.eq("F".to_owned()) & fields.day.lt(20);
    let orders = db.orders.find(some).sort(fields.revenue.desc()).await?;
    let revenues = orders.iter().map(|order| order.revenue.to_string());
    Ok(revenues.collect::<Vec<_>>().join(", "))
}

pub(super) async fn one_or_the_other() -> anyhow::Result<String> {
    let db = museum().await?;
    let customer = Customer {
        id: 1,
        segment: "F".to_owned(),
    };
    db.customers.insert(customer).await?;
    db.orders.insert(order((1, 1, 10))).await?;
    for (id, brand) in [(1, "A"), (2, "B"), (3, "C")] {
        part(&db, id, brand).await?;
    }
    let lines = [
        (1, 1, 5, 7),
        (2, 1, 50, 100),
        (3, 2, 15, 9),
        (4, 3, 5, 1000),
    ];
    let lines = lines.map(|(id, part, quantity, price)| line(id, part, quantity, price));
    db.lines.insert_many(lines).await?;
    Ok(db.totals.get(1).await?.total.to_string())
}

pub(super) async fn many_groups() -> anyhow::Result<String> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("museum");
    let store = Embedded::open(&path).await?;
    let db = Museum::open(store.clone()).await?;
    db.places.insert(Place { id: 1, members: 0 }).await?;
    let groups = (1..=1_000).map(|id| Group {
        id,
        ..Group::default()
    });
    db.groups.insert_many(groups).await?;
    db.members
        .insert_many((1..=1_000).map(|id| member(id, id, 0)))
        .await?;
    store.close().await?;
    drop((db, store));
    let db = Museum::open(Embedded::open(&path).await?).await?;
    let counted = Group::fields().members.eq(1);
    Ok(db.groups.find(counted).count().await?.to_string())
}

fn order((id, customer, day): (i64, i64, i64)) -> Order {
    Order {
        id,
        customer: Ref::new(customer),
        segment: String::new(),
        day,
        revenue: 0,
    }
}

async fn part(db: &Museum, id: i64, brand: &str) -> odm::Result<()> {
    let brand = brand.to_owned();
    db.parts.insert(Part { id, brand }).await?;
    Ok(())
}

fn line(id: i64, part: i64, quantity: i64, price: i64) -> Line {
    Line {
        id,
        order: Ref::new(1),
        part: Ref::new(part),
        brand: String::new(),
        quantity,
        price,
        discount: 0,
        net: 0,
        shipped: 0,
        total: Ref::new(1),
    }
}
