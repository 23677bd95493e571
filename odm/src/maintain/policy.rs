//! What a unit may take for granted, by the kind of its work.

/// The differences between the works that go through one pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Policy {
    /// Stored derived fields are right but for the changes of the unit, and refreshes may be deferred.
    pub(super) trusts_stored: bool,
    /// New documents were stored elsewhere before: their versions, times and frozen copies stay.
    pub(super) keeps_origin: bool,
    pub(super) references: ReferenceCheck,
}

/// Which references must name a stored document at the end of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReferenceCheck {
    /// None: a repair leaves references that dangled before.
    None,
    /// The added ones.
    Added,
    /// The added ones, and each must be a possible `_id`: the caller sends whole documents, in which the type of a
    /// reference can be null or an array.
    AddedInDocuments,
}

impl Policy {
    /// A change of stored documents.
    pub(super) const CHANGE: Self = Policy {
        trusts_stored: true,
        keeps_origin: false,
        references: ReferenceCheck::Added,
    };
    /// Whole documents from a caller.
    pub(super) const DOCUMENTS: Self = Policy {
        references: ReferenceCheck::AddedInDocuments,
        ..Policy::CHANGE
    };
    /// Documents of another store.
    pub(super) const IMPORT: Self = Policy {
        keeps_origin: true,
        ..Policy::DOCUMENTS
    };
    /// A repair, which takes nothing that is stored for right.
    pub(super) const REPAIR: Self = Policy {
        trusts_stored: false,
        references: ReferenceCheck::None,
        ..Policy::CHANGE
    };
}
