//! Indexes that are built and removed between other writes.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use odm_store::{CollectionSpec, Error, Result};
use tracing::{info, warn};

use super::{
    super::{
        ensure::{self, Portion},
        layout::Tree,
        queue::Reply,
        work::Work,
    },
    Answers, Writer,
};

/// The time between two messages of the progress of a build.
const MESSAGES: Duration = Duration::from_secs(5);

/// The collections and indexes that a caller waits for.
pub(super) struct Ensure {
    collections: Vec<CollectionSpec>,
    /// The trees of the indexes that were not in force.
    trees: BTreeSet<Tree>,
    reply: Reply<()>,
    /// The time of the last message.
    told: Instant,
}

impl Ensure {
    fn awaits(&self, tree: Tree) -> bool {
        !self.reply.is_closed() && self.trees.contains(&tree)
    }
}

impl Writer {
    /// Creates collections and indexes, and answers when they exist and are durable.
    pub(super) fn ensure(&mut self, collections: Vec<CollectionSpec>, reply: Reply<()>) {
        let mut work = self.begin();
        match ensure::declare(&mut work, &collections, |tree| self.is_awaited(tree)) {
            // Small indexes are built in one commit.
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

    /// Whether a caller waits for the index in this tree.
    fn is_awaited(&self, tree: Tree) -> bool {
        self.ensures.iter().any(|ensure| ensure.awaits(tree))
    }

    /// Whether there is a portion to build or to remove.
    pub(super) fn has_portion(&self) -> bool {
        let has_garbage = !self.newest.schema.garbage.is_empty();
        !self.ensures.is_empty() || (has_garbage && !self.is_sweep_stuck && self.failure.is_none())
    }

    /// Builds or removes one portion.
    pub(super) fn run_portion(&mut self) {
        match self.ensures.pop_front() {
            // The next caller who wants the indexes continues from here.
            Some(ensure) if ensure.reply.is_closed() => {}
            Some(ensure) => self.go_on(self.begin(), ensure),
            None => self.sweep(),
        }
        if self.is_flush_due() {
            self.flush();
        }
    }

    /// Adds a portion to the first index that lacks entries; puts all in force when all are complete.
    fn go_on(&mut self, mut work: Work, mut ensure: Ensure) {
        if let Err(error) = self.usable() {
            return self.answer(ensure.reply, Err(error));
        }
        let is_awaited = || self.has_request();
        let portion = Portion::new(self.turn, &is_awaited);
        match ensure::fill(&mut work, &ensure.trees, portion) {
            Ok(true) => {
                let finished = ensure::finish(&mut work, &ensure.collections, &ensure.trees);
                self.commit(&work, true, Vec::new(), vec![(ensure.reply, finished)]);
            }
            Ok(false) => {
                if ensure.told.elapsed() >= MESSAGES {
                    ensure.told = Instant::now();
                    tell(&work, &ensure);
                }
                self.ensures.push_back(ensure);
                self.commit(&work, false, Vec::new(), Answers::new());
            }
            Err((tree, error)) => self.give_up(tree, ensure.reply, error),
        }
    }

    /// Removes an index whose build has failed, unless others wait for it. The other indexes of the request stay as they are, for the next
    /// caller who wants them.
    fn give_up(&mut self, tree: Tree, reply: Reply<()>, error: Error) {
        let mut work = self.begin();
        let removed = match self.is_awaited(tree) {
            true => Ok(()),
            false => ensure::remove(&mut work, tree),
        };
        self.commit(
            &work,
            true,
            Vec::new(),
            vec![(reply, removed.and(Err(error)))],
        );
    }

    /// Answers after the commits in progress, since the answer may depend on them.
    fn answer(&mut self, reply: Reply<()>, result: Result<()>) {
        self.commit(&self.begin(), true, Vec::new(), vec![(reply, result)]);
    }

    fn sweep(&mut self) {
        let mut work = self.begin();
        let is_awaited = || self.has_request();
        match ensure::sweep(&mut work, Portion::new(self.turn, &is_awaited)) {
            Ok(()) => self.commit(&work, false, Vec::new(), Answers::new()),
            Err(error) => {
                self.is_sweep_stuck = true;
                warn!("entries of an index that is not in force could not be removed: {error}");
            }
        }
    }
}

fn tell(work: &Work, ensure: &Ensure) {
    let indexes = work.schema.indexes();
    for (collection, index) in indexes.filter(|(_, index)| ensure.trees.contains(&index.tree)) {
        if let Some(build) = &index.build
            && !index.is_complete()
        {
            info!(
                collection = collection.name,
                index = index.spec.name,
                documents = build.documents,
                "an index is being built"
            );
        }
    }
}
