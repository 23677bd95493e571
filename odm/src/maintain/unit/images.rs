//! The images of documents that a unit holds.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use bson::{RawDocument, RawDocumentBuf};

use super::id;
use crate::{
    mql::key,
    store::{Cause, DocumentChange, DocumentWrite},
};

/// A document, shared between the write that brings it, the images that are equal, and the outcome.
pub(crate) type Doc = Arc<RawDocumentBuf>;

/// What a unit knows of one document. Each state is `None` where the document does not exist.
#[derive(Debug, Default)]
pub(in crate::maintain) struct Image {
    /// Before the unit.
    before: Option<Doc>,
    /// In the transaction: what the last flush wrote, or what was read.
    stored: Option<Doc>,
    /// With what is queued.
    now: Option<Doc>,
    is_queued: bool,
    /// The user's write or an effect changed it, not only a refresh.
    is_base: bool,
    /// The write itself changed it, and not what follows from it alone.
    is_written: bool,
    /// Its cold part changed.
    is_touched: bool,
    /// Of a new document, the value that was stored elsewhere before.
    moved: Option<Doc>,
    /// The write returns the document, so that it is not forgotten.
    is_returned: bool,
    /// An earlier image of it was forgotten, and is counted as changed.
    is_counted: bool,
    /// The last step that changed it.
    step: usize,
}

impl Image {
    /// The document before the unit.
    pub(in crate::maintain) fn before(&self) -> Option<&Doc> {
        self.before.as_ref()
    }

    /// What its references and copies held before the unit.
    pub(in crate::maintain) fn held(&self) -> Option<&Doc> {
        self.before.as_ref().or(self.moved.as_ref())
    }

    /// Of a new document, the value that was stored elsewhere before.
    pub(in crate::maintain) fn moved(&self) -> Option<&Doc> {
        self.moved.as_ref()
    }

    /// The document with all that the unit has changed in it so far.
    pub(in crate::maintain) fn now(&self) -> Option<&Doc> {
        self.now.as_ref()
    }

    /// Whether the user's write or an effect changed it, not only a refresh.
    pub(in crate::maintain) fn is_base(&self) -> bool {
        self.is_base
    }

    /// Whether its cold part changed.
    pub(in crate::maintain) fn is_touched(&self) -> bool {
        self.is_touched
    }

    /// Whether the document is different from what it was before the unit.
    pub(in crate::maintain) fn is_changed(&self) -> bool {
        !is_same(self.before.as_ref(), self.now.as_ref())
    }

    /// What the queue changes in it, and whether its cold part changed, if anything.
    fn queued_change(&self) -> Option<(DocumentChange, bool)> {
        if !self.is_touched && is_same(self.stored.as_ref(), self.now.as_ref()) {
            return None;
        }
        let change = DocumentChange {
            before: self.stored.clone(),
            after: self.now.clone(),
            cause: match self.is_written {
                true => Cause::Write,
                false => Cause::Relation,
            },
        };
        Some((change, self.is_touched))
    }

    fn write(&self) -> Option<DocumentWrite<'_>> {
        if is_same(self.stored.as_ref(), self.now.as_ref()) {
            return None;
        }
        match (self.stored.as_deref(), self.now.as_deref()) {
            (None, None) => None,
            (None, Some(after)) => Some(DocumentWrite::Insert(after)),
            (Some(before), Some(after)) => Some(DocumentWrite::Replace { before, after }),
            (Some(before), None) => Some(DocumentWrite::Remove(before)),
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
    /// The position of each by the key of its `_id`.
    positions: Option<HashMap<Vec<u8>, usize>>,
    /// The positions of those that are queued.
    queue: Vec<usize>,
    /// The numbers of changed documents of which there is no image.
    unseen: Numbers,
    /// The keys of those whose images were forgotten, so that each is counted once.
    counted: BTreeSet<Vec<u8>>,
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

    /// Counts a document that has changed.
    fn count(&mut self, image: &Image) {
        match (&image.before, &image.now) {
            (None, _) => self.inserted += 1,
            (_, None) => self.removed += 1,
            _ => self.changed += 1,
        }
    }
}

impl Images {
    pub(super) const EMPTY: Images = Images {
        all: Vec::new(),
        positions: None,
        queue: Vec::new(),
        unseen: Numbers::NONE,
        counted: BTreeSet::new(),
    };

    pub(in crate::maintain) fn at(&self, at: usize) -> &Image {
        &self.all[at]
    }

    /// The position of the document with an `_id`, if the unit knows whether it exists.
    pub(in crate::maintain) fn position(&self, key: &[u8]) -> Option<usize> {
        self.positions.as_ref()?.get(key).copied()
    }

    /// The position of the document with an `_id`; one that the unit does not know does not exist.
    pub(super) fn position_or_absent(&mut self, key: Vec<u8>) -> usize {
        let all = &mut self.all;
        let positions = self.positions.get_or_insert_default();
        *positions.entry(key).or_insert_with(|| {
            all.push(Image::default());
            all.len() - 1
        })
    }

    /// Adds a document as it is stored, unless the unit knows it already.
    pub(super) fn remember(&mut self, document: Doc) -> usize {
        let key = key::of(id(&document));
        if let Some(at) = self.position(&key) {
            return at;
        }
        let is_counted = self.counted.contains(&key);
        let at = self.position_or_absent(key);
        self.all[at] = Image {
            before: Some(document.clone()),
            stored: Some(document.clone()),
            now: Some(document),
            is_counted,
            ..Image::default()
        };
        at
    }

    /// The documents that are different from what they were before the unit, with their positions.
    pub(in crate::maintain) fn changed(&self) -> impl Iterator<Item = (usize, &Image)> {
        let all = self.all.iter().enumerate();
        all.filter(|(_, image)| image.is_changed())
    }

    /// How many documents are different from what they were before the unit.
    pub(in crate::maintain) fn numbers(&self) -> Numbers {
        let mut numbers = self.unseen;
        let uncounted = self.changed().filter(|(_, image)| !image.is_counted);
        uncounted.for_each(|(_, image)| numbers.count(image));
        numbers
    }

    /// Adds changed documents of which there is no image.
    pub(super) fn count_unseen(&mut self, numbers: Numbers) {
        self.unseen.add(numbers);
    }

    /// Says what a document that is about to be inserted was where it was stored before.
    pub(super) fn moved(&mut self, at: usize, document: Doc) {
        self.all[at].moved = Some(document);
    }

    pub(super) fn touch(&mut self, at: usize) {
        self.all[at].is_touched = true;
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
        !self.queue.is_empty()
    }

    pub(super) fn queued(&self) -> impl ExactSizeIterator<Item = &Image> {
        self.queue.iter().map(|&at| &self.all[at])
    }

    /// Whether a stored document is out of date, since a change of it is queued.
    pub(super) fn is_queued(&self, document: &RawDocument) -> bool {
        let at = self.position(&key::of(id(document)));
        at.is_some_and(|at| self.all[at].is_queued)
    }

    pub(super) fn writes(&self) -> impl Iterator<Item = DocumentWrite<'_>> {
        self.queued().filter_map(Image::write)
    }

    pub(super) fn queued_changes(&self) -> impl Iterator<Item = (DocumentChange, bool)> {
        self.queued().filter_map(Image::queued_change)
    }

    pub(super) fn flushed(&mut self) {
        for at in self.queue.drain(..) {
            let image = &mut self.all[at];
            image.is_queued = false;
            image.stored = image.now.clone();
        }
    }

    /// Forgets what can be read again, but for its number: documents that are as they were, and,
    /// unless something reads them later, those that only a refresh has changed.
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

    pub(super) fn forget_all(&mut self) {
        self.forget_where(|_| true);
    }

    fn forget_where(&mut self, forgets: impl Fn(&Image) -> bool) {
        let Some(positions) = &mut self.positions else {
            return;
        };
        let (all, unseen, counted) = (&mut self.all, &mut self.unseen, &mut self.counted);
        positions.retain(|key, at| {
            let image = &all[*at];
            if image.is_queued || !forgets(image) {
                return true;
            }
            if image.is_changed() && !image.is_counted {
                unseen.count(image);
                counted.insert(key.clone());
            }
            all[*at] = Image::default();
            false
        });
    }
}
