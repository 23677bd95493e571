//! A running history.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::{Future, IntoFuture},
    path::PathBuf,
    pin::{Pin, pin},
    task::Poll,
    time::Duration,
};

use futures_util::future::join_all;
use odm::{
    Collections, Embedded, ErrorKind, Finding, OpenOptions, Problem, bson::Bson, prelude::*,
};
use tests::{TestStore, poll_once};

use super::{
    acts::Act,
    models::{desk::Desk, first, fourth, reports::Reports, second, third},
    oracle::{Wrong, is_at, unexplained, wrong, wrong_values},
    outcomes::{missed, otherwise, wrong_counters, wrong_numbers},
    programs::Program,
    rules::{DEFERRED, VERSIONS, rules},
    shell::Shell,
    steps::Step,
    tamper::{Tampering, restore, tamper},
    world::{World, key},
};

pub(crate) type Checked<T> = Result<T, String>;

/// Opens the store for programs.
pub(crate) type Place<S> =
    Box<dyn Fn() -> Pin<Box<dyn Future<Output = odm::Result<S>> + Send>> + Send + Sync>;

/// A store that stays open.
pub(crate) fn same<S: TestStore>(store: S) -> Place<S> {
    Box::new(move || Box::pin(std::future::ready(Ok(store.clone()))))
}

/// A store in a file, which is closed and opened with the programs.
pub(crate) fn in_file(path: PathBuf) -> Place<Embedded> {
    Box::new(move || Box::pin(Embedded::open(path.clone()).into_future()))
}

/// A running history.
pub(crate) struct Run<S> {
    place: Place<S>,
    version: usize,
    /// `None` while it is opened anew.
    opened: Option<Opened<S>>,
    /// The stored documents, which were found right.
    world: World,
    /// How many steps were not refused.
    pub(crate) done: usize,
    /// Whether the reads of an audit see one state. A repair is not beside writes where they do not.
    pub(crate) has_snapshots: bool,
}

struct Opened<S> {
    store: S,
    programs: Vec<Box<dyn Program>>,
}

impl<S: TestStore> Opened<S> {
    async fn new(place: &Place<S>, version: usize) -> odm::Result<Self> {
        let store = place().await?;
        let programs = programs(&store, version).await?;
        Ok(Opened { store, programs })
    }
}

/// Opens all programs, the application last.
pub(crate) async fn programs(
    store: &impl TestStore,
    version: usize,
) -> odm::Result<Vec<Box<dyn Program>>> {
    let reports = Reports::open_with(store.clone(), options()).await?;
    let desk = Desk::open_with(store.clone(), options()).await?;
    let mut programs: Vec<Box<dyn Program>> = vec![Box::new(reports), Box::new(desk)];
    programs.extend(applications(store, version).await?);
    Ok(programs)
}

/// One of the programs that know all these collections.
pub(crate) fn able<'p>(
    programs: &'p [Box<dyn Program>],
    number: usize,
    acts: &[&Act],
) -> &'p dyn Program {
    let collections: Vec<&str> = acts.iter().flat_map(|act| act.collections()).collect();
    let knows = |program: &dyn Program| collections.iter().all(|name| program.knows(name));
    let programs = programs.iter().map(Box::as_ref);
    let able: Vec<&dyn Program> = programs.filter(|program| knows(*program)).collect();
    able[number % able.len()]
}

/// Only acts expire tickets and refresh deferred fields.
pub(crate) fn options() -> OpenOptions {
    OpenOptions::default().delete_expired_every(None).refresh_every(None)
}

/// Opens an application, and the program without models that leaves to it what it cannot do.
pub(crate) async fn applications(
    store: &impl TestStore,
    version: usize,
) -> odm::Result<[Box<dyn Program>; 2]> {
    async fn both<A: Program + Database>(
        store: &impl TestStore,
    ) -> odm::Result<[Box<dyn Program>; 2]> {
        let application = A::open_with(store.clone(), options()).await?;
        let collections = Collections::open_with(store.clone(), options()).await?;
        let shell = Shell::new(collections, application.clone());
        Ok([Box::new(shell), Box::new(application)])
    }

    match version {
        0 => both::<first::Application>(store).await,
        1 => both::<second::Application>(store).await,
        2 => both::<third::Application>(store).await,
        _ => both::<fourth::Application>(store).await,
    }
}

/// Whether a write was refused for its own mistakes; any other error is one of the library.
pub(crate) fn refused(result: odm::Result<()>) -> Checked<bool> {
    use ErrorKind::{
        DanglingReference, DuplicateKey, Invalid, InvalidUpdate, NotFound, Restricted, Stale,
        TransactionAborted, Uncomputable,
    };
    match result {
        Ok(()) => Ok(false),
        Err(error) => match error.kind() {
            NotFound | DuplicateKey | DanglingReference | Restricted | Stale | Invalid
            | InvalidUpdate | TransactionAborted => Ok(true),
            Uncomputable if error.to_string().contains("lead in a ring") => Ok(true),
            _ => Err(format!("unexpected error: {:?}: {error}", error.kind())),
        },
    }
}

fn failed(what: &str, error: &odm::Error) -> String {
    format!("{what}: {error}")
}

impl<S: TestStore> Run<S> {
    /// Opens all programs, with the application in a version that counts from 0.
    pub(crate) async fn new(place: Place<S>, version: usize) -> Checked<Self> {
        let opened = Opened::new(&place, version).await;
        let opened = opened.map_err(|error| failed("open", &error))?;
        Ok(Run {
            world: World::read(&opened.store).await,
            place,
            version,
            opened: Some(opened),
            done: 0,
            has_snapshots: true,
        })
    }

    fn opened(&self) -> &Opened<S> {
        self.opened.as_ref().expect("it was opened")
    }

    fn store(&self) -> &S {
        &self.opened().store
    }

    /// One of the programs that know all these collections.
    fn program(&self, number: usize, acts: &[&Act]) -> &dyn Program {
        able(&self.opened().programs, number, acts)
    }

    fn newest(&self) -> &dyn Program {
        let programs = &self.opened().programs;
        programs.last().expect("the application is open").as_ref()
    }

    fn wrong(&self, world: &World, before: Option<&World>) -> Wrong {
        wrong(world, self.version, &self.newest().pending(), before)
    }

    /// Waits for the deferred fields, and returns the documents that are stored then.
    async fn settled(&self) -> Checked<World> {
        let refreshed = self.newest().wait_for_refreshes().await;
        refreshed.map_err(|error| failed("deferred fields", &error))?;
        Ok(World::read(self.store()).await)
    }

    async fn together(&self, acts: &[(usize, Act)]) -> Checked<()> {
        let all = acts.iter().map(|(number, act)| self.program(*number, &[act]).act(act));
        for result in join_all(all).await {
            refused(result)?;
        }
        Ok(())
    }

    /// Takes a step, and checks that the stored documents are right after it.
    pub(crate) async fn step(&mut self, step: &Step) -> Checked<()> {
        if let Step::Tamper(with) = step {
            return self.tampered(with).await;
        }
        let begin = DateTime::now();
        let is_refused = self.take(step).await?;
        let during = begin.into()..=DateTime::now().into();
        let after = self.settled().await?;
        if is_refused && after != self.world {
            return Err("it was refused, and has left something".to_owned());
        }
        let mut before = None;
        if let Step::One(_, act) = step {
            // A bulk can insert anew a document that it deletes.
            if let [written] = act.collections()[..] {
                unexplained(&self.world, &after, self.version, written, &during)?;
                before = Some(&self.world);
            }
            if !is_refused && let Some(missed) = missed(&self.world, &after, act) {
                return Err(missed);
            }
        }
        let removes = step.acts().iter().any(|act| act.removes_tickets());
        let wrong = wrong_numbers(&self.world, &after, removes)
            .or_else(|| wrong_counters(&self.world, &after, removes, before.is_some()));
        if let Some(wrong) = wrong.or_else(|| wrong_values(&after)) {
            return Err(wrong);
        }
        let wrong = self.wrong(&after, before);
        if !wrong.is_empty() {
            return Err(format!("{wrong:#?}"));
        }
        self.done += usize::from(!is_refused);
        self.world = after;
        Ok(())
    }

    /// Takes a step of the library, and returns whether it was refused.
    pub(crate) async fn take(&mut self, step: &Step) -> Checked<bool> {
        match step {
            Step::One(number, act) => {
                return refused(self.program(*number, &[act]).act(act).await);
            }
            Step::Transaction(number, acts, rolls_back) => {
                let all: Vec<&Act> = acts.iter().collect();
                let program = self.program(*number, &all);
                return refused(program.transaction(acts, *rolls_back).await);
            }
            Step::Together(acts) => self.together(acts).await?,
            Step::Dropped(number, act, polls) => {
                let program = self.program(*number, &[act]);
                if self.store().capabilities().outer_writes {
                    // A dropped act may end later than any other write.
                    return refused(program.act(act).await);
                }
                if let Some(result) = poll_and_drop(program.act(act), *polls).await {
                    refused(result)?;
                }
                // Writes wait for each other, so that the dropped act is over after this one.
                refused(self.newest().transaction(&[], false).await)?;
            }
            Step::Repair(number, acts) => {
                let programs = &self.opened().programs;
                let repair = programs[number % programs.len()].repair();
                let repaired = if self.has_snapshots {
                    let (repaired, acted) = tokio::join!(repair.into_future(), self.together(acts));
                    acted?;
                    repaired
                } else {
                    self.together(acts).await?;
                    repair.await
                };
                let mut repaired = repaired.map_err(|error| failed("repair", &error))?;
                // A repair does the waiting refreshes at once.
                let is_deferred = |found: &Finding| {
                    DEFERRED.contains(&&*format!("{}.{}", found.collection, path(found)))
                };
                repaired.retain(|found| !is_deferred(found));
                if !repaired.is_empty() && self.newest().pending().is_empty() {
                    return Err(format!("findings of what was right: {repaired:#?}"));
                }
            }
            Step::Upgrade if self.version + 1 < VERSIONS.len() => {
                self.version += 1;
                let newer = applications(self.store(), self.version).await;
                let newer = newer.map_err(|error| failed("open", &error))?;
                let programs = &mut self.opened.as_mut().expect("it was opened").programs;
                // Each version has different definitions, so that the previous one is refused from now on.
                programs.truncate(programs.len() - newer.len());
                programs.extend(newer);
            }
            Step::Upgrade => {}
            Step::Backfill(acts) => {
                let backfill = self.newest().backfill();
                let (filled, acted) = tokio::join!(backfill.into_future(), self.together(acts));
                acted?;
                let mut left = filled.map_err(|error| failed("backfill", &error))?;
                left.retain(|finding| !finding.repaired);
                self.reopen().await?;
                let pending = self.newest().pending();
                if !pending.is_empty() {
                    return Err(format!("still pending: {pending:?}, since {left:#?}"));
                }
            }
            Step::Reopen => self.reopen().await?,
            Step::Transfer(polls) => self.transfer(*polls).await?,
            Step::Tamper(_) => return Err("it writes past the library".to_owned()),
        }
        Ok(false)
    }

    /// Copies the stored documents into a new store, where they are the same byte for byte, also after a dropped first try.
    async fn copy(&self, polls: Option<usize>) -> Checked<()> {
        let store = Embedded::memory().await;
        let place = same(store.map_err(|error| failed("open", &error))?);
        let copy = Run::new(place, self.version).await?;
        let copied = || self.newest().copy_into(copy.store().clone());
        if let Some(polls) = polls {
            let _ = poll_and_drop(copied(), polls).await;
        }
        copied().await.map_err(|error| failed("copy", &error))?;
        let world = copy.settled().await?;
        match world == self.world {
            true => copy.right().await,
            false => Err(format!("it was copied otherwise: {world:#?}")),
        }
    }

    /// Exports the stored documents, and imports them into a new store; copies them into another one.
    async fn transfer(&self, polls: Option<usize>) -> Checked<()> {
        // An export does not compute pending fields, but an import does.
        if !self.newest().pending().is_empty() {
            return Ok(());
        }
        self.copy(polls).await?;
        let lines = self.newest().export().await;
        let lines = lines.map_err(|error| failed("export", &error))?;
        let store = Embedded::memory().await;
        let place = same(store.map_err(|error| failed("open", &error))?);
        let copy = Run::new(place, self.version).await?;
        let import = copy.newest().import(&lines);
        let imported = match polls {
            None => Some(import.await),
            Some(polls) => poll_and_drop(import, polls).await,
        };
        // Writes wait for each other, so that the dropped import is over after this one.
        refused(copy.newest().transaction(&[], false).await)?;
        let world = copy.settled().await?;
        if let Some(imported) = imported {
            imported.map_err(|error| failed("import", &error))?;
            if let Some(other) = otherwise(&self.world, &world) {
                return Err(format!("it was imported otherwise: {other}"));
            }
        }
        match copy.audited(&world).await? {
            wrong if wrong.is_empty() => Ok(()),
            wrong => Err(format!("imported: {wrong:#?}")),
        }
    }

    async fn reopen(&mut self) -> Checked<()> {
        // A file can be open only once.
        self.opened = None;
        let opened = Opened::new(&self.place, self.version).await;
        self.opened = Some(opened.map_err(|error| failed("open", &error))?);
        Ok(())
    }

    /// Audits the stored documents: the audit finds the same as the oracle. Returns the findings.
    async fn audited(&self, world: &World) -> Checked<Wrong> {
        let wrong = self.wrong(world, None);
        let found = self.newest().audit().await;
        let mut found = found.map_err(|error| failed("audit", &error))?;
        let pending = self.newest().pending();
        let derived: BTreeSet<_> =
            rules(self.version).iter().map(|rule| (rule.holder, rule.path())).collect();
        found.retain(|found| {
            let is_pending = |place| is_at(place, &found.collection, &path(found));
            // A required value may be missing, so that the document cannot be read either.
            let is_of = |(collection, id, _): &(String, _, _)| {
                *collection == found.collection && *id == key(&id_of(found))
            };
            // A copy of a wrong value is as wrong, and its model may be unable to read it.
            let is_copied =
                !wrong.is_empty() && derived.contains(&(&*found.collection, path(found)));
            let is_unreadable = matches!(found.problem, Problem::Unreadable(_));
            let is_known = is_unreadable && (is_copied || wrong.keys().any(is_of));
            !is_known && !pending.iter().any(|place| is_pending(place))
        });
        as_found(&wrong, &found)?;
        Ok(wrong)
    }

    /// Audits the stored documents, which must be right.
    pub(crate) async fn right(&self) -> Checked<()> {
        let world = self.settled().await?;
        match self.audited(&world).await? {
            wrong if wrong.is_empty() => Ok(()),
            wrong => Err(format!("{wrong:#?}")),
        }
    }

    /// Writes past the library: the audit finds the same as the oracle, and a repair corrects it.
    async fn tampered(&mut self, with: &[Tampering]) -> Checked<()> {
        if tamper(self.store(), with.to_vec()).await.is_err() {
            return Ok(());
        }
        if !self.newest().pending().is_empty() {
            restore(self.store(), &self.world).await;
            return Ok(());
        }
        self.audited(&World::read(self.store()).await).await?;
        let repaired = self.newest().repair().await;
        let repaired = repaired.map_err(|error| failed("repair", &error))?;
        let after = self.settled().await?;
        let left = self.audited(&after).await?;
        let is_left = |finding: &&Finding| {
            matches!(finding.problem, Problem::Derived(_)) && !finding.repaired
        };
        if let Some(finding) = repaired.iter().find(is_left) {
            return Err(format!("not repaired: {finding}; the repair found {repaired:#?}"));
        }
        if left.is_empty() {
            self.world = after;
            self.done += 1;
        } else {
            restore(self.store(), &self.world).await;
        }
        Ok(())
    }
}

fn id_of(finding: &Finding) -> Bson {
    Bson::try_from(finding.id.clone()).expect("an `_id` is BSON")
}

/// The path of a finding without positions in lists.
fn path(finding: &Finding) -> String {
    let steps = finding.path.split('.');
    let names: Vec<&str> = steps.filter(|step| step.parse::<u32>().is_err()).collect();
    names.join(".")
}

/// The findings of an audit are exactly the errors by the oracle.
fn as_found(wrong: &Wrong, found: &[Finding]) -> Checked<()> {
    let found: BTreeMap<_, _> = found
        .iter()
        .map(|finding| ((finding.collection.clone(), key(&id_of(finding)), path(finding)), finding))
        .collect();
    for (at, what) in wrong {
        if !found.contains_key(at) {
            return Err(format!("not found: {at:?} {what}"));
        }
    }
    match found.iter().find(|(at, _)| !wrong.contains_key(*at)) {
        Some((at, finding)) => Err(format!("found, and right: {at:?}: {finding}")),
        None => Ok(()),
    }
}

/// Polls a future at most `times` times, with short waits in between, and drops it.
async fn poll_and_drop<F: Future>(future: F, times: usize) -> Option<F::Output> {
    let mut future = pin!(future);
    for _ in 0..times {
        if let Poll::Ready(output) = poll_once(&mut future).await {
            return Some(output);
        }
        tokio::time::sleep(Duration::from_micros(30)).await;
    }
    None
}
