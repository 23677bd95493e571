//! Indexes that are built, and removed, between other writes.

use std::time::{Duration, Instant};

use tracing::{info, warn};

use super::{
    super::{ensure, layout::Tree, queue::Reply, work::Work},
    Answers, Writer,
};
use crate::{
    error::{Error, Result},
    store::CollectionSpec,
};

/// The time between two messages of the progress of a build.
const MESSAGES: Duration = Duration::from_secs(5);

/// The collections and indexes that a caller waits for.
pub(super) struct Ensure {
    collections: Vec<CollectionSpec>,
    /// The trees of the indexes that were not in force.
    trees: Vec<Tree>,
    reply: Reply<()>,
    /// The time of the last message.
    told: Instant,
}

impl Writer {
    /// Creates collections and indexes, and answers when they are there and durable.
    pub(super) fn ensure(&mut self, collections: Vec<CollectionSpec>, reply: Reply<()>) {
        let mut work = self.begin();
        let is_awaited = |tree| {
            self.ensures
                .iter()
                .any(|ensure| ensure.trees.contains(&tree))
        };
        match ensure::declare(&mut work, &collections, is_awaited) {
            // Small ones are done in one commit.
            Ok(trees) => self.go_on(
                work,
                Ensure {
                    collections,
                    trees,
                    reply,
                    told: Instant::now(),
                },
            ),
            Err(error) => self.answer(reply, Err(error)),
        }
    }

    /// Whether there is a portion to build or to remove.
    pub(super) fn has_portion(&self) -> bool {
        let has_garbage = !self.newest.schema.garbage.is_empty();
        !self.ensures.is_empty() || (has_garbage && !self.is_sweep_stuck && self.failure.is_none())
    }

    /// Whether another request waits for the end of a portion.
    fn has_request(&self) -> bool {
        self.next.is_some() || !self.requests.is_empty()
    }

    /// Builds or removes one portion.
    pub(super) fn run_portion(&mut self) {
        match self.ensures.pop_front() {
            // The next caller who wants the indexes goes on from here.
            Some(ensure) if ensure.reply.is_closed() => {}
            Some(ensure) => self.go_on(self.begin(), ensure),
            None => self.sweep(),
        }
        if self.flush_due().is_some_and(|due| due <= Instant::now()) {
            self.flush();
        }
    }

    /// Adds a portion to the first index that lacks entries; puts all in force when none does.
    fn go_on(&mut self, mut work: Work, mut ensure: Ensure) {
        if let Err(error) = self.usable() {
            return self.answer(ensure.reply, Err(error));
        }
        match build(&mut work, &ensure, &|| self.has_request()) {
            Ok(true) => self.commit(&work, true, vec![(ensure.reply, Ok(()))]),
            Ok(false) => {
                if ensure.told.elapsed() >= MESSAGES {
                    ensure.told = Instant::now();
                    tell(&work, &ensure);
                }
                self.ensures.push_back(ensure);
                self.commit(&work, false, Answers::new());
            }
            Err(error) => self.give_up(ensure, error),
        }
    }

    /// Removes the indexes of a build that has failed, unless others wait for them.
    fn give_up(&mut self, ensure: Ensure, error: Error) {
        let is_awaited = |tree: &Tree| self.ensures.iter().any(|other| other.trees.contains(tree));
        let trees: Vec<Tree> = ensure
            .trees
            .into_iter()
            .filter(|tree| !is_awaited(tree))
            .collect();
        let mut work = self.begin();
        let removed = ensure::give_up(&mut work, &trees);
        self.commit(&work, true, vec![(ensure.reply, removed.and(Err(error)))]);
    }

    /// Answers after the commits on their way, since the answer may tell of them.
    fn answer(&mut self, reply: Reply<()>, result: Result<()>) {
        self.commit(&self.begin(), true, vec![(reply, result)]);
    }

    fn sweep(&mut self) {
        let mut work = self.begin();
        match ensure::sweep(&mut work, &|| self.has_request()) {
            Ok(()) => self.commit(&work, false, Answers::new()),
            Err(error) => {
                self.is_sweep_stuck = true;
                warn!("entries of an index that is not in force could not be removed: {error}");
            }
        }
    }
}

/// Builds a portion. Returns whether all indexes are in force.
fn build(work: &mut Work, ensure: &Ensure, is_awaited: &dyn Fn() -> bool) -> Result<bool> {
    for &tree in &ensure.trees {
        if !ensure::fill(work, tree, is_awaited)? {
            return Ok(false);
        }
    }
    ensure::finish(work, &ensure.collections, &ensure.trees)?;
    Ok(true)
}

fn tell(work: &Work, ensure: &Ensure) {
    let indexes = ensure
        .trees
        .iter()
        .filter_map(|&tree| work.schema.index(tree));
    for (collection, index) in indexes {
        if let Some(build) = &index.build {
            info!(
                collection = collection.name,
                index = index.spec.name,
                documents = build.documents,
                "an index is built"
            );
        }
    }
}
