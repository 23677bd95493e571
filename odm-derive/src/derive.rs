//! The derives of this crate, by which each stage decides.

/// One of the derives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Derive {
    Document,
    Embed,
    Projection,
    Patch,
    Database,
}

impl Derive {
    pub(crate) const ALL: [Self; 5] = [
        Derive::Document,
        Derive::Embed,
        Derive::Projection,
        Derive::Patch,
        Derive::Database,
    ];

    /// The name, as users write it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Derive::Document => "Document",
            Derive::Embed => "Embed",
            Derive::Projection => "Projection",
            Derive::Patch => "Patch",
            Derive::Database => "Database",
        }
    }

    /// The attribute on the struct that goes with it.
    pub(crate) fn attribute(self) -> &'static str {
        match self {
            Derive::Document => "document",
            Derive::Embed => "embed",
            Derive::Projection => "projection",
            Derive::Patch => "patch",
            Derive::Database => "database",
        }
    }

    /// The derive that an attribute on the struct goes with.
    pub(crate) fn of_attribute(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|derive| derive.attribute() == name)
    }
}
