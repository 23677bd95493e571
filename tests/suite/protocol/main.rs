//! The protocol of units on a store whose transactions run side by side, as a model that [`stateright`] checks exhaustively for small
//! sizes: snapshots, where the first committer wins, locks that are documents, records of the outbox, workers that work them off under any
//! lease, and processes that stop anywhere. `promise/interleaved.rs` runs the engine itself in random orders; here is every order of the
//! engine's reads and writes.
//!
//! Each rule of the protocol can be left out, and then the check fails: so it shows the purpose of each rule.

mod single_writes;

use std::collections::BTreeMap;

use stateright::{Checker, Model, Property};

/// A document of the model. A holder has a copy of the name of the source, and a late copy, which a worker refreshes. The parent
/// shows the best of its children.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Key {
    Source,
    Holder(u8),
    Parent,
    Child(u8),
    /// The slots of the locks of a document.
    SlotOf(Locked, u8),
    /// The work that the unit of a process has left to the workers.
    Record(u8),
}

/// A document that units lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Locked {
    Source,
    Parent,
}

const SLOTS: u8 = 2;

/// The value of a stored document: a name, a copy and a late copy, a score and a child, a score, or zero and the name at the time of a
/// record.
type Value = (u8, u8);

/// Writes of a transaction; `None` deletes.
type Writes = BTreeMap<Key, Option<Value>>;

/// All documents, each with the number of its changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Database(BTreeMap<Key, (Option<Value>, u8)>);

impl Database {
    fn get(&self, key: Key) -> Option<Value> {
        self.0.get(&key).and_then(|(value, _)| *value)
    }

    fn version(&self, key: Key) -> u8 {
        self.0.get(&key).map_or(0, |(_, version)| *version)
    }

    /// Commits, unless one of the documents was changed since the snapshot.
    fn commit(&mut self, snapshot: &Database, writes: &Writes) -> bool {
        let is_first = |key: &Key| self.version(*key) == snapshot.version(*key);
        let committed = writes.keys().all(is_first);
        if committed {
            for (key, value) in writes {
                let version = self.version(*key) + 1;
                self.0.insert(*key, (*value, version));
            }
        }
        committed
    }

    fn present(&self, of: impl Fn(u8) -> Key, number: u8) -> impl Iterator<Item = (u8, Value)> {
        let present = move |at| self.get(of(at)).map(|value| (at, value));
        (0..number).filter_map(present)
    }

    fn holders(&self) -> impl Iterator<Item = (u8, Value)> {
        self.present(Key::Holder, 2)
    }

    /// The best child, as its score and its number.
    fn best(&self) -> Option<Value> {
        self.present(Key::Child, 2).map(|(child, (score, _))| (score, child)).max()
    }

    fn records(&self) -> impl Iterator<Item = (u8, Value)> {
        self.present(Key::Record, UNITS)
    }
}

/// The maximum number of writing processes, each with one unit.
const UNITS: u8 = 3;

/// A unit of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Unit {
    Rename,
    DeleteSource,
    Insert(u8),
    DeleteHolder(u8),
    /// Inserts a child, or gives it another score.
    Score(u8, u8),
    DeleteChild(u8),
}

/// The rules of the protocol.
#[derive(Debug, Clone, Copy)]
struct Rules {
    /// A unit shares the targets of its new references, and the parents of the children that it changes.
    shares: bool,
    /// A unit excludes others from a document whose referrers it searches.
    excludes: bool,
    /// The unit that makes a deferred field stale writes its record.
    records_in_unit: bool,
    /// A worker computes from the stored documents, and not from those at the time of the record.
    computes_anew: bool,
}

const ALL: Rules =
    Rules { shares: true, excludes: true, records_in_unit: true, computes_anew: true };

impl Rules {
    fn share(self, writes: &mut Writes, locked: Locked, by: u8) {
        if self.shares {
            writes.insert(Key::SlotOf(locked, by % SLOTS), Some((0, 0)));
        }
    }

    fn exclude(self, writes: &mut Writes, locked: Locked) {
        if self.excludes {
            writes.extend((0..SLOTS).map(|slot| (Key::SlotOf(locked, slot), Some((0, 0)))));
        }
    }

    /// The writes of the unit of a process, computed from its snapshot. A refused unit has none.
    fn unit(self, unit: Unit, process: u8, snapshot: &Database) -> Writes {
        let mut writes = Writes::new();
        let source = snapshot.get(Key::Source);
        match (unit, source) {
            (Unit::Rename, Some((name, _))) => {
                writes.insert(Key::Source, Some((name + 1, 0)));
                for (holder, (_, late)) in snapshot.holders() {
                    writes.insert(Key::Holder(holder), Some((name + 1, late)));
                }
                self.exclude(&mut writes, Locked::Source);
                if self.records_in_unit {
                    writes.insert(Key::Record(process), Some((0, name + 1)));
                }
            }
            (Unit::DeleteSource, Some(_)) if snapshot.holders().next().is_none() => {
                writes.insert(Key::Source, None);
                self.exclude(&mut writes, Locked::Source);
            }
            (Unit::Insert(holder), Some((name, _)))
                if snapshot.get(Key::Holder(holder)).is_none() =>
            {
                writes.insert(Key::Holder(holder), Some((name, name)));
                self.share(&mut writes, Locked::Source, process);
            }
            (Unit::DeleteHolder(holder), _) if snapshot.get(Key::Holder(holder)).is_some() => {
                writes.insert(Key::Holder(holder), None);
            }
            (Unit::Score(child, score), _) => {
                writes.insert(Key::Child(child), Some((score, 0)));
                self.show(&mut writes, snapshot, process, child, Some(score));
            }
            (Unit::DeleteChild(child), _) if snapshot.get(Key::Child(child)).is_some() => {
                writes.insert(Key::Child(child), None);
                self.show(&mut writes, snapshot, process, child, None);
            }
            _ => {}
        }
        writes
    }

    /// The effect of a changed child on its parent: a better one is merged in, a shown one that is worse or gone is replaced by a search,
    /// and any other child leaves the parent unchanged.
    fn show(
        self,
        writes: &mut Writes,
        snapshot: &Database,
        process: u8,
        child: u8,
        score: Option<u8>,
    ) {
        self.share(writes, Locked::Parent, process);
        let shown = snapshot.get(Key::Parent);
        let is_shown = shown.is_some_and(|(_, at)| at == child);
        let better =
            score.map(|score| (score, child)).filter(|own| shown.is_none_or(|shown| *own > shown));
        if let Some(own) = better {
            writes.insert(Key::Parent, Some(own));
        } else if is_shown {
            let mut after = snapshot.clone();
            after.0.insert(Key::Child(child), (score.map(|score| (score, 0)), 0));
            self.exclude(writes, Locked::Parent);
            writes.insert(Key::Parent, after.best());
        }
    }

    /// The writes of a worker for a record: the late copies of all holders, and that the record is done.
    fn work(self, record: u8, snapshot: &Database) -> Writes {
        let mut writes = Writes::new();
        let Some((_, recorded)) = snapshot.get(Key::Record(record)) else {
            return writes;
        };
        writes.insert(Key::Record(record), None);
        let source = snapshot.get(Key::Source);
        if let Some((name, _)) = source {
            let name = if self.computes_anew { name } else { recorded };
            let stale = snapshot.holders().filter(|(_, (_, late))| *late != name);
            writes
                .extend(stale.map(|(holder, (copy, _))| (Key::Holder(holder), Some((copy, name)))));
            self.exclude(&mut writes, Locked::Source);
        }
        writes
    }
}

/// The progress of a process.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Process {
    Idle,
    /// In a transaction.
    Open {
        snapshot: Database,
        writes: Writes,
    },
    /// Its unit is committed, and its record is not: only without `records_in_unit`.
    Records(u8),
    /// It has ended, or was killed.
    Gone,
}

/// The progress of a worker.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Worker {
    Idle,
    Works { record: u8, snapshot: Database },
    Killed,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    database: Database,
    processes: Vec<Process>,
    workers: Vec<Worker>,
}

impl State {
    /// Whether no process and no worker has work left.
    fn is_quiet(&self) -> bool {
        self.processes.iter().all(|process| *process == Process::Gone)
            && self.database.records().next().is_none()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Action {
    Begin(u8),
    Commit(u8),
    Record(u8),
    Kill(u8),
    BeginWork(u8, u8),
    CommitWork(u8),
    KillWorker(u8),
}

/// Processes with one unit each, and workers.
struct Protocol {
    rules: Rules,
    units: Vec<Unit>,
    workers: u8,
}

impl Model for Protocol {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let mut database = Database::default();
        database.0.insert(Key::Source, (Some((1, 0)), 0));
        database.0.insert(Key::Holder(0), (Some((1, 1)), 0));
        for (child, score) in [(0, 3), (1, 2)] {
            database.0.insert(Key::Child(child), (Some((score, 0)), 0));
        }
        database.0.insert(Key::Parent, (Some((3, 0)), 0));
        let processes = vec![Process::Idle; self.units.len()];
        vec![State { database, processes, workers: vec![Worker::Idle; self.workers.into()] }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for (at, process) in (0..).zip(&state.processes) {
            match process {
                Process::Idle => actions.extend([Action::Begin(at), Action::Kill(at)]),
                Process::Open { .. } => actions.extend([Action::Commit(at), Action::Kill(at)]),
                Process::Records(_) => actions.extend([Action::Record(at), Action::Kill(at)]),
                Process::Gone => {}
            }
        }
        for (at, worker) in (0..).zip(&state.workers) {
            match worker {
                Worker::Idle => {
                    let records = state.database.records();
                    actions.extend(records.map(|(record, _)| Action::BeginWork(at, record)));
                }
                Worker::Works { .. } => actions.push(Action::CommitWork(at)),
                Worker::Killed => {}
            }
            // One of them is never killed.
            if at > 0 && *worker != Worker::Killed {
                actions.push(Action::KillWorker(at));
            }
        }
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut next = state.clone();
        let State { database, processes, workers } = &mut next;
        match action {
            Action::Begin(at) => {
                let writes = self.rules.unit(self.units[usize::from(at)], at, database);
                processes[usize::from(at)] = Process::Open { snapshot: database.clone(), writes };
            }
            Action::Commit(at) => {
                let Process::Open { snapshot, writes } = &state.processes[usize::from(at)] else {
                    return None;
                };
                let name = writes.get(&Key::Source).copied().flatten();
                processes[usize::from(at)] = match database.commit(snapshot, writes) {
                    // It is run again.
                    false => Process::Idle,
                    true if !self.rules.records_in_unit && name.is_some() => {
                        Process::Records(name?.0)
                    }
                    true => Process::Gone,
                };
            }
            Action::Record(at) => {
                let Process::Records(name) = state.processes[usize::from(at)] else {
                    return None;
                };
                let snapshot = database.clone();
                database.commit(&snapshot, &Writes::from([(Key::Record(at), Some((0, name)))]));
                processes[usize::from(at)] = Process::Gone;
            }
            Action::Kill(at) => processes[usize::from(at)] = Process::Gone,
            Action::BeginWork(at, record) => {
                workers[usize::from(at)] = Worker::Works { record, snapshot: database.clone() };
            }
            Action::CommitWork(at) => {
                let Worker::Works { record, snapshot } = &state.workers[usize::from(at)] else {
                    return None;
                };
                let writes = self.rules.work(*record, snapshot);
                // Commits, or loses a conflict.
                database.commit(snapshot, &writes);
                workers[usize::from(at)] = Worker::Idle;
            }
            Action::KillWorker(at) => workers[usize::from(at)] = Worker::Killed,
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::<Self>::always(
                "each holder has the present name of a source that is there",
                |_, state| {
                    let source = state.database.get(Key::Source);
                    let mut holders = state.database.holders();
                    holders.all(|(_, (copy, _))| source.is_some_and(|(name, _)| name == copy))
                },
            ),
            Property::<Self>::always("the parent shows its best child", |_, state| {
                state.database.get(Key::Parent) == state.database.best()
            }),
            Property::<Self>::always(
                "when nothing waits, the late copies are right",
                |_, state| {
                    let source = state.database.get(Key::Source);
                    let mut holders = state.database.holders();
                    !state.is_quiet()
                        || holders
                            .all(|(_, (_, late))| source.is_some_and(|(name, _)| name == late))
                },
            ),
            Property::<Self>::sometimes("it comes to its end", |_, state| state.is_quiet()),
        ]
    }
}

/// The names of the properties that do not hold, and how many states there are.
fn check(rules: Rules, units: &[Unit], workers: u8) -> (Vec<&'static str>, usize) {
    let protocol = Protocol { rules, units: units.to_vec(), workers };
    let checker = protocol.checker().spawn_bfs().join();
    assert!(checker.is_done());
    let end = "it comes to its end";
    let found = checker.discoveries();
    assert!(found.contains_key(end), "{units:?} never comes to an end");
    let wrong = found.into_keys().filter(|name| *name != end).collect();
    (wrong, checker.unique_state_count())
}

const OF_THE_SOURCE: [Unit; 5] =
    [Unit::Rename, Unit::DeleteSource, Unit::Insert(0), Unit::Insert(1), Unit::DeleteHolder(0)];
const OF_THE_PARENT: [Unit; 5] = [
    Unit::Score(0, 1),
    Unit::Score(0, 4),
    Unit::Score(1, 1),
    Unit::DeleteChild(0),
    Unit::DeleteChild(1),
];

/// Three units of a kind, each once or more often.
fn triples(units: &[Unit]) -> impl Iterator<Item = [Unit; 3]> {
    let at = |at: usize| {
        (at..units.len())
            .flat_map(move |second| (second..units.len()).map(move |third| [at, second, third]))
    };
    let triples: Vec<_> = (0..units.len()).flat_map(at).collect();
    triples.into_iter().map(|triple| triple.map(|at| units[at]))
}

/// Asserts that all triples are right, with any process killed.
fn assert_right(units: &[Unit], workers: u8) {
    let mut states = 0;
    for triple in triples(units) {
        let (wrong, number) = check(ALL, &triple, workers);
        assert_eq!(wrong, Vec::<&str>::new(), "{triple:?}");
        states += number;
    }
    println!("{states} states");
}

/// The errors without a rule, in some triple.
fn wrong_without(rules: Rules, units: &[Unit], workers: u8) -> Vec<&'static str> {
    let wrong = triples(units).map(|triple| check(rules, &triple, workers).0);
    wrong.into_iter().find(|wrong| !wrong.is_empty()).unwrap_or_default()
}

#[test]
fn copies_references_and_late_copies_are_right_in_every_order() {
    assert_right(&OF_THE_SOURCE, 2);
}

#[test]
fn a_parent_shows_its_best_child_in_every_order() {
    assert_right(&OF_THE_PARENT, 0);
}

#[test]
fn without_shared_locks_copies_go_wrong() {
    let rules = Rules { shares: false, ..ALL };
    assert!(!wrong_without(rules, &OF_THE_SOURCE, 0).is_empty());
    assert!(!wrong_without(rules, &OF_THE_PARENT, 0).is_empty());
}

#[test]
fn without_exclusive_locks_copies_go_wrong() {
    let rules = Rules { excludes: false, ..ALL };
    assert!(!wrong_without(rules, &OF_THE_SOURCE, 0).is_empty());
    assert!(!wrong_without(rules, &OF_THE_PARENT, 0).is_empty());
}

#[test]
fn a_record_that_is_written_after_its_unit_is_lost_with_its_process() {
    let rules = Rules { records_in_unit: false, ..ALL };
    let wrong = wrong_without(rules, &OF_THE_SOURCE, 1);
    assert_eq!(wrong, ["when nothing waits, the late copies are right"]);
}

#[test]
fn a_worker_that_writes_what_the_record_says_overwrites_newer_values() {
    let rules = Rules { computes_anew: false, ..ALL };
    let wrong = wrong_without(rules, &OF_THE_SOURCE, 2);
    assert_eq!(wrong, ["when nothing waits, the late copies are right"]);
}
