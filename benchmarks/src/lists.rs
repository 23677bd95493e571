//! The cost of a write of a member whose owner lists all members, by their number.
//!
//! On disk, with [`Durability::Eventual`], tasks are inserted, renamed and deleted in three models: a person who lists the tasks as inverse
//! references, a person who lists their titles as a reverse copy, and a person without a list, since a query by the reference finds the
//! tasks. The table shows medians.

use std::time::{Duration, Instant};

use odm::{Embedded, prelude::*, store::Durability};
use serde::{Deserialize, Serialize};

use crate::shared::{
    measure::{median, micros},
    table::{Table, figure, thousands},
};

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The number of inserts, renames and deletes for each number of members.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    rounds: u64,
    /// The largest number of members.
    #[arg(long, default_value_t = 50_000)]
    members: u64,
}

/// The models of a person and of tasks, and the database of both.
macro_rules! model {
    ($module:ident, $people:literal, $tasks:literal, {$($list:tt)*}, [$($inverse:tt)*], $new:expr) => {
        mod $module {
            use super::*;

            #[derive(Debug, Clone, Serialize, Deserialize, Document)]
            #[document(collection = $people)]
            struct Person {
                #[serde(rename = "_id")]
                id: i64,
                $($list)*
            }

            #[derive(Debug, Clone, Serialize, Deserialize, Document)]
            #[document(collection = $tasks)]
            struct Task {
                #[serde(rename = "_id")]
                id: i64,
                title: String,
                #[reference(parent $($inverse)*)]
                person: Ref<Person>,
            }

            #[derive(Database)]
            #[database(name = $people, version = 1)]
            struct Tasks {
                people: Repository<Person>,
                tasks: Repository<Task>,
            }

            fn task(id: u64) -> Task {
                Task { id: id as i64, title: format!("task {id:07}"), person: Ref::new(1) }
            }

            /// Times `rounds` inserts, renames and deletes of a task whose person has `members` other tasks.
            pub(super) async fn run(store: &Embedded, members: u64, rounds: u64) -> odm::Result<[Duration; 3]> {
                let tasks = Tasks::open(store.clone()).await?;
                tasks.people.delete_where(Filter::all()).await?;
                tasks.people.insert($new(1)).await?;
                for chunk in (0..members).collect::<Vec<_>>().chunks(10_000) {
                    tasks.tasks.insert_many(chunk.iter().map(|&id| task(id))).await?;
                }
                let mut times = [const { Vec::new() }; 3];
                for round in 0..rounds {
                    let start = Instant::now();
                    tasks.tasks.insert(task(members)).await?;
                    times[0].push(start.elapsed());
                    let start = Instant::now();
                    let title = format!("name {round:07}");
                    tasks.tasks.update((round % members) as i64).set(Task::fields().title, title).await?;
                    times[1].push(start.elapsed());
                    let start = Instant::now();
                    tasks.tasks.delete(members as i64).await?;
                    times[2].push(start.elapsed());
                }
                Ok(times.map(median))
            }
        }
    };
}

model!(
    inverse, "inverse_people", "inverse_tasks",
    { #[reference(child, inverse = "person")] tasks: Vec<Ref<Task>>, },
    [, inverse = "tasks", on_delete = "cascade"],
    |id| Person { id, tasks: Vec::new() }
);
model!(
    reverse, "reverse_people", "reverse_tasks",
    { #[denormalize(from = "Task.title", via = "Task.person")] titles: Vec<String>, },
    [, on_delete = "cascade"],
    |id| Person { id, titles: Vec::new() }
);
model!(
    plain, "plain_people", "plain_tasks",
    {},
    [, on_delete = "cascade"],
    |id| Person { id }
);

pub(crate) async fn run(options: Options) -> odm::Result<()> {
    let Options { rounds, members } = options;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let columns = [
        "tasks of the person",
        "inverse list",
        "reverse copy",
        "no list",
    ];
    let mut table = Table::new(0, columns);
    for members in [10, 100, 1_000, 10_000, 50_000]
        .into_iter()
        .filter(|&number| number <= members)
    {
        let path = folder.path().join(format!("{members}.odm"));
        let store = Embedded::builder()
            .durability(Durability::Eventual)
            .open(path)
            .await?;
        let times = [
            inverse::run(&store, members, rounds).await?,
            reverse::run(&store, members, rounds).await?,
            plain::run(&store, members, rounds).await?,
        ];
        let cell = |times: [Duration; 3]| times.map(|time| figure(micros(time))).join(" / ");
        let [inverse, reverse, plain] = times.map(cell);
        table.row([thousands(members), inverse, reverse, plain]);
    }
    println!("µs: insert / rename / delete of a task, medians of {rounds} rounds\n");
    print!("{table}");
    Ok(())
}
