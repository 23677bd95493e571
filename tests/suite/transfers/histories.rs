//! Random histories of writes, whose result is exported, imported and exported again.

use odm::{Embedded, prelude::*};
use odm_store_suite::MapStore;
use proptest::{
    prelude::*,
    test_runner::{Config, TestCaseError, TestRunner},
};
use tests::TestStore;

use super::models::*;

#[derive(Debug, Clone)]
pub(crate) enum Op {
    Category(i32, Option<i32>),
    MoveCategory(i32, Option<i32>),
    RenameCategory(i32, u8),
    DeleteCategory(i32),
    Person(i32),
    RenamePerson(i32, u8),
    Friends(i32, Vec<i32>),
    Favourite(i32, Option<i64>),
    Lead(i32, Option<i32>),
    DeletePerson(i32),
    Task(u8, Option<i32>),
    Own(i32, Vec<u8>),
    GiveTask(u8, Option<i32>),
    Item(i32, i32, Option<i32>),
    RenameItem(i64, u8),
    PriceItem(i64, i8),
    Inspect(i64, Option<i32>),
    DeleteItem(i64),
    Review(i32, i32, i64, Option<i32>),
    DeleteReview(i32),
}

pub(crate) fn op() -> impl Strategy<Value = Op> {
    use Op::*;
    let id = || 0..6;
    let name = || 0..4_u8;
    let some = || prop::option::of(0..6);
    let item = || 1..8_i64;
    let task_number = || 0..6_u8;
    prop_oneof![
        3 => (id(), some()).prop_map(|(id, parent)| Category(id, parent)),
        2 => (id(), some()).prop_map(|(id, parent)| MoveCategory(id, parent)),
        1 => (id(), name()).prop_map(|(id, name)| RenameCategory(id, name)),
        1 => id().prop_map(DeleteCategory),
        4 => id().prop_map(Person),
        2 => (id(), name()).prop_map(|(id, name)| RenamePerson(id, name)),
        2 => (id(), prop::collection::vec(id(), 0..3)).prop_map(|(id, of)| Friends(id, of)),
        2 => (id(), prop::option::of(item())).prop_map(|(id, item)| Favourite(id, item)),
        3 => (id(), some()).prop_map(|(id, lead)| Lead(id, lead)),
        1 => id().prop_map(DeletePerson),
        3 => (task_number(), some()).prop_map(|(id, owner)| Task(id, owner)),
        1 => (id(), prop::collection::vec(task_number(), 0..3)).prop_map(|(id, of)| Own(id, of)),
        2 => (task_number(), some()).prop_map(|(id, owner)| GiveTask(id, owner)),
        5 => (id(), id(), some()).prop_map(|(category, seller, by)| Item(category, seller, by)),
        2 => (item(), name()).prop_map(|(id, name)| RenameItem(id, name)),
        2 => (item(), 0..4_i8).prop_map(|(id, price)| PriceItem(id, price)),
        1 => (item(), some()).prop_map(|(id, by)| Inspect(id, by)),
        1 => item().prop_map(DeleteItem),
        4 => (0..9, 0..5, item(), prop::option::of(0..8))
            .prop_map(|(id, stars, item, by)| Review(id, stars, item, by)),
        1 => (0..9).prop_map(DeleteReview),
    ]
}

/// Does a write, as far as the rules of the models allow it.
pub(crate) async fn run(market: &Market, op: &Op) -> odm::Result<()> {
    let named = |name: u8| format!("name {name}");
    let persons = Person::fields();
    match op.clone() {
        Op::Category(id, parent) => drop(market.categories.insert(category(id, parent)).await?),
        Op::MoveCategory(id, parent) => {
            let parent = parent.map(Ref::<Category>::new);
            let update = market.categories.update(id);
            update.set(Category::fields().parent, parent).await?;
        }
        Op::RenameCategory(id, name) => {
            let update = market.categories.update(id);
            update.set(Category::fields().name, named(name)).await?;
        }
        Op::DeleteCategory(id) => drop(market.categories.delete(id).await?),
        Op::Person(id) => drop(market.persons.insert(person(id)).await?),
        Op::RenamePerson(id, name) => {
            let update = market.persons.update(id);
            update.set(persons.name, named(name)).await?;
        }
        Op::Friends(id, of) => {
            let friends: Vec<Ref<Person>> = of.into_iter().map(Ref::new).collect();
            market.persons.update(id).set(persons.friends, friends).await?;
        }
        Op::Favourite(id, item) => {
            let item = item.map(Ref::<Item>::new);
            market.persons.update(id).set(persons.favourite, item).await?;
        }
        Op::Lead(id, lead) => {
            let lead = lead.map(Ref::<Person>::new);
            market.persons.update(id).set(persons.lead, lead).await?;
        }
        Op::DeletePerson(id) => drop(market.persons.delete(id).await?),
        Op::Task(number, owner) => drop(market.tasks.insert(task(number, owner)).await?),
        Op::Own(id, of) => {
            let tasks = of.into_iter().map(|number| Ref::new(task(number, None).id));
            let tasks: Vec<Ref<Task>> = tasks.collect();
            market.persons.update(id).set(persons.tasks, tasks).await?;
        }
        Op::GiveTask(number, owner) => {
            let update = market.tasks.update(task(number, None).id);
            let owner = owner.map(Ref::<Person>::new);
            update.set(Task::fields().owner, owner).await?;
        }
        Op::Item(category, seller, by) => {
            market.items.insert(item(category, seller, by)).await?;
        }
        Op::RenameItem(id, name) => {
            let update = market.items.update(id);
            update.set(Item::fields().name, named(name)).await?;
        }
        Op::PriceItem(id, price) => {
            let update = market.items.update(id);
            update.set(Item::fields().price, f64::from(price)).await?;
        }
        Op::Inspect(id, by) => {
            let by = by.map(Ref::<Person>::new);
            let update = market.items.update(id);
            update.set(Item::fields().detail.inspector, by).await?;
        }
        Op::DeleteItem(id) => drop(market.items.delete(id).await?),
        Op::Review(id, stars, item, by) => {
            market.reviews.insert(review(id, stars, item, by)).await?;
        }
        Op::DeleteReview(id) => drop(market.reviews.delete(id).await?),
    }
    Ok(())
}

async fn check(
    stores: (impl TestStore, impl TestStore),
    history: &[Op],
) -> Result<(), TestCaseError> {
    let market = Market::open(stores.0).await.unwrap();
    for op in history {
        // A write that the rules refuse changes nothing.
        let _ = run(&market, op).await;
    }
    let lines = exported(&market).await;
    let copy = Market::open(stores.1).await.unwrap();
    let imported = copy.import(lines.as_bytes()).await;
    let imported = imported.map_err(|error| TestCaseError::fail(format!("{error}\n{lines}")))?;
    let is_document = |line: &&str| !line.starts_with(r#"{"collection":"_odm_counters","#);
    prop_assert_eq!(imported, lines.lines().skip(1).filter(is_document).count() as u64);
    prop_assert_eq!(exported(&copy).await, lines.as_str());
    prop_assert_eq!(copy.audit().await.unwrap(), []);

    // An import ignores the order of lines.
    let (head, documents) = lines.split_once('\n').unwrap();
    let reversed: Vec<&str> = documents.lines().rev().collect();
    let copy = super::models::imported(&format!("{head}\n{}\n", reversed.join("\n"))).await;
    let copy = copy.map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!(exported(&copy).await, lines);
    prop_assert_eq!(copy.audit().await.unwrap(), []);
    Ok(())
}

fn histories<S: TestStore>(cases: u32, new: impl AsyncFn() -> S) {
    let mut runner =
        TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&prop::collection::vec(op(), 0..80), |history| {
        tests::run(async { check((new().await, new().await), &history).await })
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

#[test]
fn an_import_of_an_export_is_the_same_database_in_memory() {
    histories(50, async || Embedded::memory().await.unwrap());
}

#[test]
fn an_import_of_an_export_is_the_same_database_on_disk() {
    let files = tests::NewFiles::new();
    histories(12, async || files.open().await);
}

#[test]
fn an_import_of_an_export_is_the_same_database_in_maps() {
    histories(40, async || MapStore::new());
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn an_import_of_an_export_is_the_same_database_on_mongodb() {
    let databases = tests::NewDatabases::default();
    histories(4, async || databases.open().await);
}
