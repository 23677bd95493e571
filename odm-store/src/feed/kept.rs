//! The commits of a collection that are kept for its watches.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    task::Poll,
    time::{Duration, Instant},
};

use tokio::sync::Notify;

use super::{Place, WatchedCommit};

/// How long commits are recorded after the last watch has ended, for a watch that resumes it.
const RESUMABLE_FOR: Duration = Duration::from_secs(60);
/// How many bytes of documents are kept in commits that all watches have taken.
const RESUMABLE_BYTES: usize = 8 << 20;
/// How many commits are kept at least.
const RESUMABLE_COMMITS: usize = 1024;

/// The commits of a collection since its first watch has begun.
pub(super) struct Kept {
    /// Distinguishes it from an earlier one of the same collection.
    number: u64,
    commits: VecDeque<WatchedCommit>,
    /// The number of the first commit that is kept.
    first: u64,
    /// The bytes of the documents in all of them.
    bytes: usize,
    watches: BTreeMap<u64, WatchPosition>,
    /// Whether the contents of commits are recorded: some watch has begun.
    has_begun: bool,
    /// When the last watch has ended.
    ended: Instant,
    changed: Arc<Notify>,
}

struct WatchPosition {
    /// The number of the next commit. `None` before the watch has begun.
    next: Option<u64>,
    buffer: usize,
}

impl Kept {
    pub(super) fn new(number: u64) -> Self {
        Kept {
            number,
            commits: VecDeque::new(),
            first: 0,
            bytes: 0,
            watches: BTreeMap::new(),
            has_begun: false,
            ended: Instant::now(),
            changed: Arc::default(),
        }
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Tells of commits, and of the end of the store.
    pub(super) fn changed(&self) -> Arc<Notify> {
        self.changed.clone()
    }

    /// Whether there is no watch, and none can resume.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        let is_late = now.saturating_duration_since(self.ended) > RESUMABLE_FOR;
        self.watches.is_empty() && (is_late || !self.has_begun)
    }

    pub(super) fn add(&mut self, watch: u64, buffer: usize) {
        self.watches
            .insert(watch, WatchPosition { next: None, buffer });
    }

    pub(super) fn remove(&mut self, watch: u64) {
        self.watches.remove(&watch);
        self.ended = Instant::now();
        self.trim();
    }

    /// Begins a watch at a place, or now. `None` if commits since the place are gone.
    pub(super) fn begin(&mut self, watch: u64, after: Option<&Place>) -> Option<Place> {
        let place = match after {
            None => Place {
                kept: self.number,
                commit: self.end(),
                shown: 0,
            },
            Some(place) => {
                let is_here = place.kept == self.number
                    && self.has_begun
                    && (self.first..=self.end()).contains(&place.commit);
                is_here.then(|| place.clone())?
            }
        };
        self.has_begun = true;
        if let Some(reader) = self.watches.get_mut(&watch) {
            reader.next = Some(place.commit);
        }
        Some(place)
    }

    pub(super) fn push(&mut self, commit: WatchedCommit) {
        if self.has_begun {
            self.bytes += size(&commit);
            self.commits.push_back(commit);
            self.trim();
        }
    }

    /// Takes the next commit of a watch, with its number. An error is the number of missed commits.
    pub(super) fn take(&mut self, watch: u64) -> Poll<Result<(u64, WatchedCommit), u64>> {
        let (first, end) = (self.first, self.end());
        let Some(reader) = self.watches.get_mut(&watch) else {
            return Poll::Pending;
        };
        let next = reader.next.unwrap_or(end);
        let oldest = first.max(end.saturating_sub(reader.buffer as u64));
        if next < oldest {
            reader.next = Some(oldest);
            return Poll::Ready(Err(oldest - next));
        }
        let Some(commit) = self.commits.get((next - first) as usize).cloned() else {
            return Poll::Pending;
        };
        reader.next = Some(next + 1);
        self.trim();
        Poll::Ready(Ok((next, commit)))
    }

    /// The number of the next commit.
    fn end(&self) -> u64 {
        self.first + self.commits.len() as u64
    }

    /// Forgets the oldest commits that exceed the buffer, and commits that all watches have taken while memory is over its bound.
    fn trim(&mut self) {
        let end = self.end();
        let buffers = self.watches.values().map(|reader| reader.buffer);
        let buffer = buffers.max().unwrap_or(0).max(RESUMABLE_COMMITS);
        let places = self.watches.values().filter_map(|reader| reader.next);
        let slowest = places.min().unwrap_or(end);
        while let Some(commit) = self.commits.front() {
            let is_taken = self.first < slowest;
            let is_heavy = is_taken && self.bytes > RESUMABLE_BYTES;
            if self.commits.len() <= buffer && !is_heavy {
                break;
            }
            self.bytes -= size(commit);
            self.commits.pop_front();
            self.first += 1;
        }
    }
}

fn size(commit: &WatchedCommit) -> usize {
    commit.iter().map(|change| change.size()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_kept_for_a_minute_after_the_last_watch_and_none_for_one_that_has_not_begun() {
        let mut kept = Kept::new(1);
        kept.add(1, 16);
        kept.push(Arc::new([]));
        assert_eq!(
            kept.end(),
            0,
            "a commit that may have begun before the watch"
        );
        kept.remove(1);
        assert!(kept.is_over(kept.ended));

        let mut kept = Kept::new(2);
        kept.add(2, 16);
        let begun = kept.begin(2, None).expect("it begins now");
        kept.push(Arc::new([]));
        kept.remove(2);
        assert!(!kept.is_over(kept.ended));
        kept.push(Arc::new([]));
        kept.add(3, 16);
        assert!(kept.begin(3, Some(&begun)).is_some());
        assert!(matches!(kept.take(3), Poll::Ready(Ok((0, _)))));
        assert!(matches!(kept.take(3), Poll::Ready(Ok((1, _)))));
        kept.remove(3);
        let after = |time| kept.ended.checked_add(time).expect("a time");
        assert!(!kept.is_over(after(RESUMABLE_FOR)));
        assert!(kept.is_over(after(RESUMABLE_FOR + Duration::from_secs(1))));
    }
}
