//! The benchmarks of the project: the library compared with SQLite and redb by hand, and the cost of its own features by the size of the
//! data. `docs/benchmarks.md` has the results, and says how to run each.

mod aggregates;
mod check;
mod compile;
mod fan_out;
mod lists;
mod load;
mod mongodb;
#[cfg(all(feature = "surrealdb", feature = "turso"))]
mod museum;
mod peers;
mod server;
mod service;
mod shared;
mod subsets;
mod totals;
mod trees;
mod validation;

use clap::{Parser, Subcommand};
use tokio::runtime::Builder;

/// Runs the library beside SQLite and redb by hand, or with a command one of its own benchmarks.
#[derive(Debug, Parser)]
#[command(args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(flatten)]
    peers: peers::Options,
    #[command(subcommand)]
    benchmark: Option<Benchmark>,
}

#[derive(Debug, Subcommand)]
enum Benchmark {
    /// What sums and groups over many documents cost, beside SQLite's `GROUP BY`.
    Aggregates(aggregates::Options),
    /// What opening a file costs with all checksums verified, and without.
    Check(check::Options),
    /// What many models cost the compiler, beside serde alone, and how long and how large programs are.
    Compile(compile::Options),
    /// What the files, the memory and the descriptors are in a day of writes, hour by hour.
    Day(service::day::Options),
    /// What renaming a part costs, by the number of documents that hold a copy of its name.
    FanOut(fan_out::Options),
    /// What a write of a member costs where its owner lists all members.
    Lists(lists::Options),
    /// Many writers at once on a MongoDB server, beside the driver by hand.
    Load(load::Options),
    /// What the library costs on a MongoDB server beside the driver by hand.
    Mongodb(mongodb::Options),
    /// What SurrealDB and Turso get wrong of derived data today, by public reports.
    #[cfg(all(feature = "surrealdb", feature = "turso"))]
    Museum(museum::Options),
    /// What clients of `odm-server` get, beside the library in process and another server.
    Server(server::Options),
    /// How long calls take in a service of many tasks, beside SQLite by hand.
    Service(service::Options),
    /// What a write of a child costs whose parent shows the ten newest.
    Subsets(subsets::Options),
    /// What an insert of a child costs whose parent has a total, beside a trigger of SQLite.
    Totals(totals::Options),
    /// What inserts and moves cost in a tree whose documents list their ancestors, beside triggers of SQLite.
    Trees(trees::Options),
    /// What validation costs a write, by the size of the document.
    Validation(validation::Options),
    /// Refreshes deferred fields until it is killed.
    #[command(hide = true)]
    LoadWorker(load::WorkerOptions),
    /// Prints by how many KiB a large write raises the peak memory of this process.
    #[command(hide = true)]
    FanOutPeak(fan_out::PeakOptions),
    /// Writes until it is killed.
    #[command(hide = true)]
    PeersWriter(peers::WriterOptions),
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let mut runtime = Builder::new_multi_thread();
    // SurrealDB asks for large stacks.
    let runtime = runtime.enable_all().thread_stack_size(10 << 20).build()?;
    runtime.block_on(async {
        match arguments.benchmark {
            None => peers::run(arguments.peers).await,
            Some(Benchmark::Aggregates(options)) => aggregates::run(options).await,
            Some(Benchmark::Check(options)) => Ok(check::run(options).await?),
            Some(Benchmark::Compile(options)) => compile::run(&options),
            Some(Benchmark::Day(options)) => service::day::run(options).await,
            Some(Benchmark::FanOut(options)) => Ok(fan_out::run(options).await?),
            Some(Benchmark::Lists(options)) => Ok(lists::run(options).await?),
            Some(Benchmark::Load(options)) => load::run(options).await,
            Some(Benchmark::LoadWorker(options)) => load::work(options).await,
            Some(Benchmark::Mongodb(options)) => mongodb::run(options).await,
            #[cfg(all(feature = "surrealdb", feature = "turso"))]
            Some(Benchmark::Museum(options)) => museum::run(options).await,
            Some(Benchmark::Server(options)) => server::run(options).await,
            Some(Benchmark::Service(options)) => service::run(options).await,
            Some(Benchmark::Subsets(options)) => Ok(subsets::run(options).await?),
            Some(Benchmark::Totals(options)) => totals::run(options).await,
            Some(Benchmark::Trees(options)) => trees::run(options).await,
            Some(Benchmark::Validation(options)) => Ok(validation::run(options).await?),
            Some(Benchmark::FanOutPeak(options)) => Ok(fan_out::print_peak(options).await?),
            Some(Benchmark::PeersWriter(options)) => peers::write_until_killed(options).await,
        }
    })
}
