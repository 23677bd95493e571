//! Units of work that run side by side, with snapshots and locks or with serializable transactions: the stored documents are right after
//! any order of their calls.
//!
//! The calls of the units are ordered by hand. With two units, each is interrupted before each of its calls, and the other runs as a whole:
//! so their snapshots overlap in every way that matters. With three, the order is random.

use std::{
    ops::Range,
    pin::{Pin, pin},
    task::Poll,
};

use futures_util::future::LocalBoxFuture;
use odm::Database;

use odm_store_suite::MapStore;
use tests::poll_once;

use super::{
    acts::{Act, act, beginning},
    history::number,
    models::{first::Application, reports::Reports},
    oracle::wrong,
    programs::Program,
    rules::DEFERRED,
    run::{options, refused},
    steps::Chance,
    world::World,
};

/// A running unit.
struct Running<'a>(Option<LocalBoxFuture<'a, odm::Result<()>>>);

impl<'a> Running<'a> {
    fn new(program: &'a dyn Program, act: &'a Act) -> Self {
        // The budget of the runtime's task does not apply to manual polling.
        let act = tokio::task::unconstrained(program.act(act));
        Running(Some(Box::pin(act)))
    }

    fn is_over(&self) -> bool {
        self.0.is_none()
    }

    /// Runs the unit to its next call of the store.
    async fn step(&mut self) -> Result<(), String> {
        let Some(future) = &mut self.0 else {
            return Ok(());
        };
        if let Poll::Ready(result) = poll_once(&mut Pin::new(future)).await {
            self.0 = None;
            refused(result)?;
        }
        Ok(())
    }

    async fn finish(&mut self) -> Result<(), String> {
        while !self.is_over() {
            self.step().await?;
        }
        Ok(())
    }
}

/// Polls the opening of a program to its end.
async fn polled<D>(opening: impl Future<Output = odm::Result<D>>) -> D {
    let mut opening = pin!(tokio::task::unconstrained(opening));
    loop {
        if let Poll::Ready(opened) = poll_once(&mut opening).await {
            return opened.expect("a store of the same process opens");
        }
    }
}

/// An application, and the documents before its acts.
struct Beginning {
    store: MapStore,
    program: Application,
    before: MapStore,
}

impl Beginning {
    async fn new(chance: &mut Chance, store: MapStore) -> Beginning {
        // Its declarations are right as well.
        drop(polled(Reports::open_with(store.clone(), options())).await);
        let program = polled(Application::open_with(store.clone(), options())).await;
        let mut acts = beginning(chance);
        acts.extend((0..20).map(|_| act(chance)));
        for act in &acts {
            let done = Running::new(&program, act).finish().await;
            done.expect("alone, an act does no harm");
        }
        let before = store.copy();
        Beginning { store, program, before }
    }

    async fn check(&self) -> Result<(), String> {
        let world = World::read(&self.store).await;
        let wrong = wrong(&world, 0, &DEFERRED.map(str::to_owned), None);
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(format!("{wrong:#?}")),
        }
    }

    /// Runs one act within another: before the call of the outer one with this number. Returns whether the outer act has such a call.
    async fn within(&self, outer: &Act, inner: &Act, call: usize) -> Result<bool, String> {
        self.store.restore(&self.before);
        let mut outer = Running::new(&self.program, outer);
        for _ in 0..call {
            outer.step().await?;
        }
        if outer.is_over() {
            return Ok(false);
        }
        Running::new(&self.program, inner).finish().await?;
        outer.finish().await?;
        self.check().await?;
        Ok(true)
    }

    async fn at_random(&self, acts: &[Act], chance: &mut Chance) -> Result<(), String> {
        self.store.restore(&self.before);
        let running = acts.iter().map(|act| Running::new(&self.program, act));
        let mut running: Vec<Running<'_>> = running.collect();
        while !running.is_empty() {
            let at = chance.below(running.len() as u64) as usize;
            running[at].step().await?;
            running.retain(|unit| !unit.is_over());
        }
        self.check().await
    }
}

/// How many orders were tried, and the failures.
#[derive(Default)]
struct Tried {
    orders: usize,
    wrong: Vec<String>,
}

impl Tried {
    fn add(&mut self, result: Result<(), String>, what: impl FnOnce() -> String) {
        self.orders += 1;
        if let Err(wrong) = result {
            self.wrong.push(format!("{}: {wrong}", what()));
        }
    }
}

/// The number of rounds for each seed.
const ROUNDS: u64 = 20;

/// Tries pairs and triples of random acts, [`ROUNDS`] times for each seed.
fn tried(seeds: Range<u64>, store: impl Fn() -> MapStore) -> Tried {
    let rounds = ROUNDS * (seeds.end - seeds.start);
    let mut tried = Tried::default();
    for seed in seeds {
        tests::run(async {
            let mut chance = Chance::new(seed);
            let begun = Beginning::new(&mut chance, store()).await;
            for _ in 0..ROUNDS {
                let acts = [act(&mut chance), act(&mut chance), act(&mut chance)];
                for (outer, inner) in [(0, 1), (1, 0)] {
                    for call in 1.. {
                        let result = begun.within(&acts[outer], &acts[inner], call).await;
                        if result == Ok(false) {
                            break;
                        }
                        let (outer, inner) = (&acts[outer], &acts[inner]);
                        tried.add(result.map(drop), || {
                            format!("seed {seed}: before call {call} of {outer:?}, {inner:?}")
                        });
                    }
                }
                for _ in 0..4 {
                    let result = begun.at_random(&acts, &mut chance).await;
                    tried.add(result, || format!("seed {seed}: side by side {acts:#?}"));
                }
            }
        });
    }
    // Each round has four random orders of three, and the orders of pairs.
    assert!(tried.orders as u64 > 4 * rounds, "{} orders", tried.orders);
    tried
}

/// Runs 120 rounds, or `ROUNDS`, from the seed 1, or from `SEED`.
#[test]
fn units_in_any_order_of_their_calls_leave_what_is_right() {
    let rounds = number("ROUNDS").unwrap_or(120);
    let seed = number("SEED").unwrap_or(1);
    let seeds = seed..seed + rounds.div_ceil(ROUNDS);
    let stores: [fn() -> MapStore; 2] = [MapStore::stepped, || MapStore::stepped().serializable()];
    for store in stores {
        let tried = tried(seeds.clone(), store);
        eprintln!("{} orders", tried.orders);
        assert!(
            tried.wrong.is_empty(),
            "{} of {} orders are wrong, first {}",
            tried.wrong.len(),
            tried.orders,
            tried.wrong[0]
        );
    }
}

#[test]
fn without_locks_snapshot_isolation_leaves_what_is_wrong() {
    let finds = |seed| {
        let tried = tried(seed..seed + 1, || MapStore::stepped().ignoring_locks());
        !tried.wrong.is_empty()
    };
    assert!((1..=100).any(finds), "2,000 rounds have found nothing");
}
