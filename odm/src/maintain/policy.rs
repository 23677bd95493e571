//! The assumptions of a unit, by the kind of its work.

/// The assumptions in which the kinds of work differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Policy {
    /// Stored derived fields are right except where the unit changes their sources, and refreshes may be deferred.
    pub(super) trusts_stored: bool,
    /// New documents were stored elsewhere before: their versions, times and frozen copies stay.
    pub(super) keeps_origin: bool,
    /// New documents have all cold parts that are not optional.
    pub(super) requires_cold_parts: bool,
    pub(super) references: ReferenceCheck,
}

/// Which references must name a stored document at the end of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReferenceCheck {
    /// None: a repair leaves references that dangled before.
    None,
    /// The added references.
    Added,
    /// The added references, which must also be possible `_id`s: in a whole document that a caller sends, the value of a
    /// reference can be null or an array.
    AddedInDocuments,
}

impl Policy {
    /// A change of stored documents.
    pub(super) const CHANGE: Self = Policy {
        trusts_stored: true,
        keeps_origin: false,
        requires_cold_parts: true,
        references: ReferenceCheck::Added,
    };
    /// Whole documents from a caller.
    pub(super) const DOCUMENTS: Self = Policy {
        references: ReferenceCheck::AddedInDocuments,
        ..Policy::CHANGE
    };
    /// Documents from files of other programs.
    pub(super) const IMPORT_FILES: Self = Policy {
        keeps_origin: true,
        ..Policy::DOCUMENTS
    };
    /// Documents of another store. Older versions of the library stored documents without their cold parts, which their audit finds, and
    /// nobody can make up.
    pub(super) const IMPORT: Self = Policy {
        requires_cold_parts: false,
        ..Policy::IMPORT_FILES
    };
    /// A repair, which assumes no stored value to be right.
    pub(super) const REPAIR: Self = Policy {
        trusts_stored: false,
        references: ReferenceCheck::None,
        ..Policy::CHANGE
    };
}
