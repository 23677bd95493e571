//! The images of documents that a unit holds.

#[cfg(test)]
use std::cell::Cell;
use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, LazyLock},
};

use bson::{RawDocument, RawDocumentBuf};
use odm_mql::key;
use odm_store::{Cause, DocumentChange, DocumentWrite, IndexSpec, Result};

use super::id;

/// A document, shared by the write that brings it, the equal images, and the outcome.
pub(crate) type Doc = Arc<RawDocumentBuf>;

/// A hash of a document, which detects a later change without holding the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::maintain) struct Digest(u64);

/// The keys of this process, so that nobody can make a document with the digest of another.
static DIGESTS: LazyLock<ahash::RandomState> = LazyLock::new(ahash::RandomState::new);

impl Digest {
    pub(in crate::maintain) fn of(document: &RawDocument) -> Self {
        Digest(DIGESTS.hash_one(document.as_bytes()))
    }
}

/// A forgotten document: its digests before the unit and when it was forgotten, `None` where it did not exist.
#[derive(Debug, Clone, Copy)]
struct ForgottenImage {
    before: Option<Digest>,
    now: Option<Digest>,
}

/// One document as a unit knows it. A state is `None` where the document does not exist.
#[derive(Debug, Default)]
pub(in crate::maintain) struct Image {
    /// Before the unit.
    before: Option<Doc>,
    /// In the transaction: as the last flush wrote it, or as it was read.
    stored: Option<Doc>,
    /// With the queued change.
    now: Option<Doc>,
    is_queued: bool,
    /// The user's write or an effect changed it, not only a refresh.
    is_base: bool,
    /// The write itself changed it, not only a consequence of the write.
    is_written: bool,
    /// A write gave it all fields of another document.
    is_replaced: bool,
    /// Its cold part changed.
    is_touched: bool,
    /// Its cold part changed in this unit or in an earlier unit of the same commit.
    is_cold_changed: bool,
    /// It was removed before the batch, so that another document can take its unique keys.
    is_freed: bool,
    /// The value of a new document as it was stored elsewhere before, if it was.
    origin: Option<Doc>,
    /// The write returns the document, so that it is not forgotten.
    is_returned: bool,
    /// The earlier image of the document, if one was forgotten.
    forgotten: Option<ForgottenImage>,
    /// The last step that changed it.
    step: usize,
}

impl Image {
    /// The document before the unit.
    pub(in crate::maintain) fn before(&self) -> Option<&Doc> {
        self.before.as_ref()
    }

    /// The document before the unit, or as it was stored elsewhere: its references and copies are not new.
    pub(in crate::maintain) fn before_or_origin(&self) -> Option<&Doc> {
        self.before.as_ref().or(self.origin.as_ref())
    }

    /// The value of a new document as it was stored elsewhere before, if it was.
    pub(in crate::maintain) fn origin(&self) -> Option<&Doc> {
        self.origin.as_ref()
    }

    /// The document with all that the unit has changed in it so far.
    pub(in crate::maintain) fn now(&self) -> Option<&Doc> {
        self.now.as_ref()
    }

    /// The document as it is in the transaction.
    pub(super) fn stored(&self) -> Option<&Doc> {
        self.stored.as_ref()
    }

    /// Whether the user's write or an effect changed it, not only a refresh.
    pub(in crate::maintain) fn is_base(&self) -> bool {
        self.is_base
    }

    /// Whether its cold part changed.
    pub(in crate::maintain) fn is_touched(&self) -> bool {
        self.is_touched
    }

    /// Whether the document differs from its state before the unit.
    pub(in crate::maintain) fn is_changed(&self) -> bool {
        !is_same(self.before.as_ref(), self.now.as_ref())
    }

    /// The queued change of the document, if any, and whether its cold part changed.
    fn queued_change(&self) -> Option<(DocumentChange, bool)> {
        if !self.is_cold_changed && is_same(self.stored.as_ref(), self.now.as_ref()) {
            return None;
        }
        let cause = if self.is_written {
            Cause::Write
        } else {
            Cause::Relation
        };
        let mut change = DocumentChange::new(self.stored.clone(), self.now.clone(), cause);
        change.is_replaced = self.is_replaced;
        Some((change, self.is_cold_changed))
    }

    fn write(&self) -> Option<DocumentWrite<'_>> {
        if is_same(self.stored.as_ref(), self.now.as_ref()) {
            return None;
        }
        match (self.stored.as_deref(), self.now.as_deref()) {
            (_, Some(after)) if self.is_freed => Some(DocumentWrite::Insert(after)),
            (None, None) => None,
            (None, Some(after)) => Some(DocumentWrite::Insert(after)),
            (Some(before), Some(after)) => Some(DocumentWrite::Replace { before, after }),
            (Some(before), None) => Some(DocumentWrite::Remove(before)),
        }
    }

    /// The digests that remain when the image is forgotten.
    fn to_forgotten(&self) -> ForgottenImage {
        let digest = |image: &Option<Doc>| image.as_deref().map(|image| Digest::of(image));
        ForgottenImage {
            before: match self.forgotten {
                Some(forgotten) => forgotten.before,
                None => digest(&self.before),
            },
            now: digest(&self.now),
        }
    }

    /// Whether the queue gives the document a key of one of these unique indexes.
    fn takes_key(&self, indexes: &[IndexSpec]) -> bool {
        match (&self.stored, &self.now) {
            (None, Some(_)) => true,
            (Some(stored), Some(now)) => !indexes.iter().all(|of| of.is_unaffected(stored, now)),
            (_, None) => false,
        }
    }

    /// Converts it to an image of the next unit of the same commit.
    fn carried(self) -> Image {
        Image {
            before: self.now.clone(),
            stored: self.stored,
            now: self.now,
            is_queued: true,
            is_written: self.is_written,
            is_replaced: self.is_replaced,
            is_cold_changed: self.is_cold_changed,
            ..Image::default()
        }
    }
}

fn is_same(a: Option<&Doc>, b: Option<&Doc>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a.as_bytes() == b.as_bytes(),
        _ => false,
    }
}

/// The documents of one collection, in the order in which the unit came to know them.
#[derive(Debug, Default)]
pub(in crate::maintain) struct Images {
    all: Vec<Image>,
    /// The position of each image by the key of its `_id`.
    positions: Option<HashMap<Vec<u8>, usize, ahash::RandomState>>,
    /// The positions of the images that are queued for the next flush.
    queue: Vec<usize>,
    /// The positions of the images that are held back for the last flush.
    held_back: Vec<usize>,
    /// The numbers of changed documents without an image.
    unseen: Numbers,
    /// The forgotten documents that the unit has changed and that exist, by the keys of their `_id`s: each is counted once, even
    /// if the unit changes it again. A removed document does not come back in the unit.
    forgotten: HashMap<Vec<u8>, ForgottenImage>,
}

#[cfg(test)]
thread_local! {
    /// The greatest number of images of one collection on this thread.
    pub(in crate::maintain) static MOST_HELD: Cell<usize> = const { Cell::new(0) };
}

/// How many documents a unit has changed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(in crate::maintain) struct Numbers {
    pub(in crate::maintain) inserted: u64,
    pub(in crate::maintain) changed: u64,
    pub(in crate::maintain) removed: u64,
}

impl Numbers {
    pub(super) const NONE: Numbers = Numbers {
        inserted: 0,
        changed: 0,
        removed: 0,
    };

    pub(super) fn add(&mut self, other: Numbers) {
        self.inserted += other.inserted;
        self.changed += other.changed;
        self.removed += other.removed;
    }

    /// Counts a document, if it is different.
    fn count(&mut self, ForgottenImage { before, now }: ForgottenImage) {
        match (before, now) {
            (None, Some(_)) => self.inserted += 1,
            (Some(_), None) => self.removed += 1,
            (before, now) if before != now => self.changed += 1,
            _ => {}
        }
    }
}

impl Images {
    pub(in crate::maintain) fn at(&self, at: usize) -> &Image {
        &self.all[at]
    }

    /// The position of the document with an `_id`, if the unit knows whether it exists.
    pub(in crate::maintain) fn position(&self, key: &[u8]) -> Option<usize> {
        self.positions.as_ref()?.get(key).copied()
    }

    /// The position of the document with an `_id`; a document that the unit does not know is taken as absent.
    pub(super) fn position_or_absent(&mut self, key: Vec<u8>) -> usize {
        let all = &mut self.all;
        let positions = self.positions.get_or_insert_default();
        *positions.entry(key).or_insert_with(|| {
            all.push(Image::default());
            #[cfg(test)]
            MOST_HELD.with(|most| most.set(most.get().max(all.len())));
            all.len() - 1
        })
    }

    /// Adds a document as it is stored, unless the unit knows it already.
    pub(super) fn remember(&mut self, document: Doc) -> usize {
        let key = key::of(id(&document));
        if let Some(at) = self.position(&key) {
            return at;
        }
        let forgotten = self.forgotten.remove(&key);
        let at = self.position_or_absent(key);
        self.all[at] = Image {
            before: Some(document.clone()),
            stored: Some(document.clone()),
            now: Some(document),
            forgotten,
            ..Image::default()
        };
        at
    }

    /// The documents, with the keys of their `_id`s.
    pub(in crate::maintain) fn by_key(&self) -> impl Iterator<Item = (&[u8], &Image)> {
        let positions = self.positions.iter().flatten();
        positions.map(|(key, at)| (&key[..], &self.all[*at]))
    }

    /// The documents that differ from their state before the unit, with their positions.
    pub(in crate::maintain) fn changed(&self) -> impl Iterator<Item = (usize, &Image)> {
        let all = self.all.iter().enumerate();
        all.filter(|(_, image)| image.is_changed())
    }

    /// The documents that exist with all that the unit has changed so far, with their positions.
    pub(in crate::maintain) fn existing(&self) -> impl Iterator<Item = (usize, &Doc)> {
        let all = self.all.iter().enumerate();
        all.filter_map(|(at, image)| Some((at, image.now()?)))
    }

    /// How many documents differ from their state before the unit.
    pub(in crate::maintain) fn numbers(&self) -> Numbers {
        let mut numbers = self.unseen;
        let held = self.all.iter();
        let held = held.filter(|image| image.forgotten.is_some() || image.is_changed());
        held.for_each(|image| numbers.count(image.to_forgotten()));
        let forgotten = self.forgotten.values();
        forgotten.for_each(|forgotten| numbers.count(*forgotten));
        numbers
    }

    /// Counts changed documents without an image.
    pub(super) fn count_unseen(&mut self, numbers: Numbers) {
        self.unseen.add(numbers);
    }

    /// Sets the value that a document to be inserted had where it was stored before.
    pub(super) fn set_origin(&mut self, at: usize, document: Doc) {
        self.all[at].origin = Some(document);
    }

    pub(super) fn replaced(&mut self, at: usize) {
        self.all[at].is_replaced = true;
    }

    pub(super) fn touch(&mut self, at: usize) {
        self.all[at].is_touched = true;
        self.all[at].is_cold_changed = true;
    }

    /// Changes a document in a step, and returns whether it was not queued before, and whether this
    /// is its first change in the step.
    pub(super) fn queue(
        &mut self,
        at: usize,
        now: Option<Doc>,
        (is_base, is_written): (bool, bool),
        step: usize,
    ) -> (bool, bool) {
        let image = &mut self.all[at];
        image.now = now;
        image.is_base |= is_base;
        image.is_written |= is_written;
        let is_new = !std::mem::replace(&mut image.is_queued, true);
        if is_new {
            self.queue.push(at);
        }
        (is_new, std::mem::replace(&mut image.step, step) != step)
    }

    pub(super) fn has_queue(&self) -> bool {
        !self.queue.is_empty() || !self.held_back.is_empty()
    }

    pub(in crate::maintain) fn queued(&self) -> impl Iterator<Item = &Image> {
        let queue = self.queue.iter().chain(&self.held_back);
        queue.map(|&at| &self.all[at])
    }

    pub(super) fn number_of_queued(&self) -> usize {
        self.queue.len() + self.held_back.len()
    }

    /// Holds back the documents that get a key of one of these unique indexes: a later change of the unit may free the key.
    pub(super) fn hold_back(&mut self, indexes: &[IndexSpec]) {
        if indexes.is_empty() {
            return;
        }
        let (all, held_back) = (&self.all, &mut self.held_back);
        self.queue.retain(|&at| {
            let takes_key = all[at].takes_key(indexes);
            held_back.extend(takes_key.then_some(at));
            !takes_key
        });
    }

    /// Queues all documents for the next flush.
    pub(super) fn release(&mut self) {
        self.queue.append(&mut self.held_back);
    }

    /// The removals that free unique keys which queued documents take from other documents. The batch inserts these again.
    pub(super) fn free_keys(&mut self, indexes: &[IndexSpec]) -> Result<Vec<DocumentWrite<'_>>> {
        let mut freed = BTreeSet::new();
        for index in indexes {
            let mut given: HashMap<Vec<u8>, usize> = HashMap::new();
            let mut changed = Vec::new();
            for &at in &self.queue {
                let image = &self.all[at];
                match (&image.stored, &image.now) {
                    (Some(stored), Some(now)) if !index.is_unaffected(stored, now) => {
                        let keys = index.encoded_keys_of(stored)?.into_iter();
                        given.extend(keys.map(|key| (key, at)));
                        changed.push(at);
                    }
                    (None, Some(_)) => changed.push(at),
                    _ => {}
                }
            }
            if given.is_empty() {
                continue;
            }
            for at in changed {
                let Some(now) = self.all[at].now() else {
                    continue;
                };
                let keys = index.encoded_keys_of(now)?.into_iter();
                let owners = keys.filter_map(|key| given.get(&key).copied());
                freed.extend(owners.filter(|owner| *owner != at));
            }
        }
        let mut removals = Vec::with_capacity(freed.len());
        for &at in &freed {
            self.all[at].is_freed = true;
        }
        for at in freed {
            let stored = self.all[at].stored.as_deref();
            removals.extend(stored.map(|stored| DocumentWrite::Remove(stored)));
        }
        Ok(removals)
    }

    /// The held back documents, as images of the next unit of the same commit.
    pub(super) fn carried(mut self) -> Option<Images> {
        if self.held_back.is_empty() {
            return None;
        }
        let mut next = Images::default();
        self.carry(&mut next, |image| image.carried());
        Some(next)
    }

    /// Forgets all documents but the held back ones, which are unchanged to the next page. No position is of use after it.
    pub(super) fn end_page(&mut self) {
        self.forget_where(|_| true);
        let mut next = Images {
            unseen: self.unseen,
            forgotten: std::mem::take(&mut self.forgotten),
            ..Images::default()
        };
        self.carry(&mut next, |image| Image {
            forgotten: Some(image.to_forgotten()),
            ..image.carried()
        });
        *self = next;
    }

    /// Moves the held back documents, as other images.
    fn carry(&mut self, next: &mut Images, convert: impl Fn(Image) -> Image) {
        for at in std::mem::take(&mut self.held_back) {
            let image = std::mem::take(&mut self.all[at]);
            let document = image.now.as_ref().or(image.stored.as_ref());
            // A document without both was inserted and removed again.
            if let Some(key) = document.map(|document| key::of(id(document))) {
                let position = next.position_or_absent(key);
                next.all[position] = convert(image);
                next.held_back.push(position);
            }
        }
    }

    /// Whether a stored document is out of date, since a change of it is queued.
    pub(super) fn is_queued(&self, document: &RawDocument) -> bool {
        let at = self.position(&key::of(id(document)));
        at.is_some_and(|at| self.all[at].is_queued)
    }

    pub(super) fn writes(&self) -> impl Iterator<Item = DocumentWrite<'_>> {
        let queue = self.queue.iter().map(|&at| &self.all[at]);
        queue.filter_map(Image::write)
    }

    pub(super) fn queued_changes(&self) -> impl Iterator<Item = (DocumentChange, bool)> {
        let queue = self.queue.iter().map(|&at| &self.all[at]);
        queue.filter_map(Image::queued_change)
    }

    pub(super) fn flushed(&mut self) {
        for at in self.queue.drain(..) {
            let image = &mut self.all[at];
            image.is_queued = false;
            image.is_freed = false;
            image.stored = image.now.clone();
        }
    }

    /// Forgets documents that can be read again, and counts the changed ones: unchanged documents, and, unless a later step reads
    /// them, documents that only a refresh has changed.
    pub(super) fn forget(&mut self, is_read_later: bool) {
        self.forget_where(|image| {
            let is_read = image.is_base || is_read_later;
            let is_kept = image.is_returned || (image.is_changed() && is_read);
            !is_kept
        });
    }

    /// Keeps a document that the write returns.
    pub(in crate::maintain) fn keep_returned(&mut self, at: usize) {
        self.all[at].is_returned = true;
    }

    /// Forgets all documents but the queued ones. Positions of forgotten documents are invalid afterwards.
    pub(super) fn forget_all(&mut self) {
        self.forget_where(|_| true);
        if !self.has_queue() {
            self.all.clear();
        }
    }

    fn forget_where(&mut self, forgets: impl Fn(&Image) -> bool) {
        let Some(positions) = &mut self.positions else {
            return;
        };
        let (all, unseen) = (&mut self.all, &mut self.unseen);
        positions.retain(|key, at| {
            let image = &all[*at];
            if image.is_queued || !forgets(image) {
                return true;
            }
            if image.forgotten.is_some() || image.is_changed() {
                let forgotten = image.to_forgotten();
                if forgotten.now.is_some() {
                    self.forgotten.insert(key.clone(), forgotten);
                } else {
                    unseen.count(forgotten);
                }
            }
            all[*at] = Image::default();
            false
        });
    }
}
