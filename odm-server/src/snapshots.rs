//! The states of the data that clients read by the time that an answer has named.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use odm::{
    Collections, bson::Timestamp, collections::CollectionsSnapshot, store::contract::CommitTime,
};

use crate::{
    auth::{Caller, UserDigest},
    error::{CommandError, Result, code},
};

/// Which state a client wants to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AskedSnapshot {
    Newest,
    At(CommitTime),
}

/// One state of the data of all databases that a user can read: of all that was committed up to its time.
///
/// A commit that was made while it began may be in it, too, whose time is later: then no answer has told of that commit.
pub(crate) struct Snapshot {
    pub(crate) time: CommitTime,
    databases: BTreeMap<String, CollectionsSnapshot>,
    begun: Instant,
}

impl Snapshot {
    /// The collections of a database, if it is served, and the user can read it.
    pub(crate) fn database(&self, name: &str) -> Option<&Collections> {
        self.databases.get(name).map(|collections| &**collections)
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Snapshot");
        shown.field("time", &self.time).finish_non_exhaustive()
    }
}

/// The snapshots that are kept, for the commands that name their time. A kept one holds the data that the stores have replaced since it
/// began, so that it ends after a time, and before it if there are too many later ones. Each user has their own: no other can end them.
#[derive(Debug)]
pub(crate) struct Snapshots {
    all: Mutex<HashMap<Option<UserDigest>, OfUser>>,
    limit: usize,
    life: Duration,
}

/// The snapshots of one user.
type OfUser = BTreeMap<CommitTime, Arc<Snapshot>>;

impl Snapshots {
    pub(crate) fn new(limit: usize, life: Duration) -> Self {
        Snapshots {
            all: Mutex::default(),
            limit,
            life,
        }
    }

    fn with<T>(&self, of: impl FnOnce(&mut HashMap<Option<UserDigest>, OfUser>) -> T) -> T {
        of(&mut self.all.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The state that a client asks for, who is a user where the server requires users.
    ///
    /// # Errors
    ///
    /// `SnapshotTooOld` if it is not kept, `InvalidOptions` if its time is still to come.
    pub(crate) async fn get(
        &self,
        asked: AskedSnapshot,
        caller: Option<&Caller>,
        databases: &BTreeMap<String, Collections>,
    ) -> Result<Arc<Snapshot>> {
        let newest = CommitTime::newest();
        let time = match asked {
            AskedSnapshot::Newest => newest,
            AskedSnapshot::At(time) => time,
        };
        if time > newest {
            let (time, newest) = (Timestamp::from(time), Timestamp::from(newest));
            let message = format!(
                "readConcern atClusterTime value must not be greater than the current clusterTime. Requested clusterTime: {time}; current \
                 clusterTime: {newest}"
            );
            return Err(CommandError::new(code::INVALID_OPTIONS, message));
        }
        let user = caller.map(|caller| caller.user.digest);
        let kept = self.with(|all| all.get(&user)?.get(&time).cloned());
        match (kept, asked) {
            (Some(kept), _) if self.is_kept(&kept) => Ok(kept),
            // The newest time stands still while it is ahead of the clock, so that one which has ended can be of it.
            (_, AskedSnapshot::Newest) => self.begin(time, caller, databases).await,
            (None, AskedSnapshot::At(_)) if time == newest => {
                self.begin(time, caller, databases).await
            }
            (_, AskedSnapshot::At(_)) => Err(self.too_old(time)),
        }
    }

    fn is_kept(&self, snapshot: &Snapshot) -> bool {
        snapshot.begun.elapsed() <= self.life
    }

    /// Begins a snapshot of the commits up to a time, which was the newest one.
    async fn begin(
        &self,
        time: CommitTime,
        caller: Option<&Caller>,
        databases: &BTreeMap<String, Collections>,
    ) -> Result<Arc<Snapshot>> {
        let mut begun = BTreeMap::new();
        let can_read = |name: &str| caller.is_none_or(|caller| caller.user.database == name);
        for (name, collections) in databases.iter().filter(|(name, _)| can_read(name)) {
            begun.insert(name.clone(), collections.snapshot().await?);
        }
        let snapshot = Arc::new(Snapshot {
            time,
            databases: begun,
            begun: Instant::now(),
        });
        let user = caller.map(|caller| caller.user.digest);
        let (snapshot, dropped) = self.with(|all| {
            let of_user = all.entry(user).or_default();
            // Another client may have begun one of the same time, with which it goes on.
            if let Some(kept) = of_user.get(&time).filter(|kept| self.is_kept(kept)) {
                return (kept.clone(), Some(snapshot));
            }
            let ended = of_user.insert(time, snapshot.clone());
            let is_over = all.values().map(OfUser::len).sum::<usize>() > self.limit;
            let oldest = is_over.then(|| pop_of_most(all)).flatten();
            (snapshot, ended.or(oldest))
        });
        // Their ends free memory, which must not happen under the lock.
        drop(dropped);
        Ok(snapshot)
    }

    fn too_old(&self, time: CommitTime) -> CommandError {
        let message = format!(
            "Read timestamp {} is older than the oldest available timestamp: this server keeps a snapshot for {:?} after the answer that names \
             its atClusterTime",
            Timestamp::from(time),
            self.life
        );
        CommandError::new(code::SNAPSHOT_TOO_OLD, message)
    }

    /// Ends the snapshots that began so long ago.
    pub(crate) fn sweep(&self) {
        let ended: Vec<_> = self.with(|all| {
            let ended = all
                .values()
                .flat_map(OfUser::values)
                .filter(|kept| !self.is_kept(kept))
                .cloned()
                .collect();
            all.retain(|_, of_user| {
                of_user.retain(|_, kept| self.is_kept(kept));
                !of_user.is_empty()
            });
            ended
        });
        // As above.
        drop(ended);
    }
}

/// Takes the oldest snapshot of the user who has the most.
fn pop_of_most(all: &mut HashMap<Option<UserDigest>, OfUser>) -> Option<Arc<Snapshot>> {
    let oldest = |of_user: &OfUser| of_user.values().next().map(|oldest| Reverse(oldest.begun));
    let most = all
        .values_mut()
        .max_by_key(|of_user| (of_user.len(), oldest(of_user)))?;
    most.pop_first().map(|(_, oldest)| oldest)
}

#[cfg(test)]
mod tests;
