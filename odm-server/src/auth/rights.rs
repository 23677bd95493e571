//! The rights of a user: which collections they may read, and which they may change.

use odm::{
    Error, ErrorKind, Result,
    bson::{RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf, raw::cstr, rawdoc},
    collections::CollectionRights,
};

/// Whether no client reads or writes a collection: that of the users, and that of the stored answers to all of them.
pub(crate) fn is_secret(collection: &str) -> bool {
    matches!(collection, "_odm_users" | "_odm_retries")
}

/// A right of a user, on one collection of their database or on all of them.
///
/// The names are MongoDB's, `read` and `readWrite`. The latter includes the former, and the management of the collection:
/// to create it, to drop or rename it, and its indexes.
///
/// ```
/// use odm_server::Right;
///
/// let rights = [Right::read("products"), Right::read_write("reviews")];
/// assert_eq!((rights[1].role(), rights[1].collection()), ("readWrite", Some("reviews")));
/// assert_eq!(Right::read_all().collection(), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Right {
    writes: bool,
    collection: Option<String>,
}

impl Right {
    /// The right to read a collection.
    ///
    /// ```
    /// assert_eq!(odm_server::Right::read("parts").role(), "read");
    /// ```
    pub fn read(collection: impl Into<String>) -> Self {
        Right {
            writes: false,
            collection: Some(collection.into()),
        }
    }

    /// The right to read, change and manage a collection.
    ///
    /// ```
    /// assert_eq!(odm_server::Right::read_write("parts").role(), "readWrite");
    /// ```
    pub fn read_write(collection: impl Into<String>) -> Self {
        Right {
            writes: true,
            collection: Some(collection.into()),
        }
    }

    /// The right to read all collections, including later ones, and the state of the server.
    ///
    /// ```
    /// assert_eq!(odm_server::Right::read_all().role(), "read");
    /// ```
    pub fn read_all() -> Self {
        Right {
            writes: false,
            collection: None,
        }
    }

    /// The right to read, change and manage all collections, including later ones.
    ///
    /// ```
    /// assert_eq!(odm_server::Right::read_write_all().role(), "readWrite");
    /// ```
    pub fn read_write_all() -> Self {
        Right {
            writes: true,
            collection: None,
        }
    }

    /// MongoDB's name of the right: `read` or `readWrite`.
    ///
    /// ```
    /// assert_eq!(odm_server::Right::read("parts").role(), "read");
    /// ```
    pub fn role(&self) -> &'static str {
        if self.writes { "readWrite" } else { "read" }
    }

    /// The collection; `None` for all of them.
    ///
    /// ```
    /// assert_eq!(odm_server::Right::read("parts").collection(), Some("parts"));
    /// ```
    pub fn collection(&self) -> Option<&str> {
        self.collection.as_deref()
    }

    /// Refuses a name that no collection of a client has.
    pub(super) fn check(&self) -> Result<()> {
        let Some(name) = self.collection() else {
            return Ok(());
        };
        if !name.is_empty() && !name.contains(['\0', '$']) && !name.starts_with("_odm") {
            return Ok(());
        }
        let message =
            format!("right on `{name}`, which is not the name of a collection of clients");
        Err(Error::new(ErrorKind::InvalidQuery, message))
    }

    pub(super) fn to_document(&self) -> RawDocumentBuf {
        let mut right = rawdoc! { "role": self.role() };
        if let Some(collection) = self.collection() {
            right.append(cstr!("collection"), collection);
        }
        right
    }

    /// Reads a right; `None` if it is not one that this version of the library knows.
    pub(super) fn of_document(right: &RawDocument) -> Option<Self> {
        let text = |name| match right.get(name) {
            Ok(Some(RawBsonRef::String(text))) => Ok(Some(text)),
            Ok(None) => Ok(None),
            _ => Err(()),
        };
        let writes = match text("role").ok()?? {
            "read" => false,
            "readWrite" => true,
            _ => return None,
        };
        let collection = text("collection").ok()?.map(str::to_owned);
        Some(Right { writes, collection })
    }
}

/// All rights of a user.
#[derive(Debug, Clone, Default)]
pub(crate) struct UserRights(pub(super) Vec<Right>);

impl UserRights {
    fn any(&self, collection: Option<&str>, writes: bool) -> bool {
        self.0.iter().any(|right| {
            let is_of = right.collection.is_none() || right.collection.as_deref() == collection;
            is_of && (right.writes || !writes)
        })
    }

    /// Whether each of other rights is among these.
    pub(crate) fn include(&self, others: &UserRights) -> bool {
        let mut others = others.0.iter();
        others.all(|right| self.any(right.collection(), right.writes))
    }

    /// Whether the user may read all collections.
    pub(crate) fn can_read_all(&self) -> bool {
        self.any(None, false)
    }

    /// Whether they may change all collections.
    pub(crate) fn can_write_all(&self) -> bool {
        self.any(None, true)
    }

    /// The rights as MongoDB's roles.
    pub(crate) fn roles(&self, database: &str) -> RawArrayBuf {
        let roles = self.0.iter().map(|right| {
            let mut role = rawdoc! { "role": right.role() };
            role.append(cstr!("db"), database);
            if let Some(collection) = right.collection() {
                role.append(cstr!("collection"), collection);
            }
            role
        });
        RawArrayBuf::from_iter(roles)
    }

    /// The rights as MongoDB's privileges.
    pub(crate) fn privileges(&self, database: &str) -> RawArrayBuf {
        const READS: [&str; 3] = ["collStats", "find", "listIndexes"];
        const READS_ALL: [&str; 2] = ["dbStats", "listCollections"];
        const WRITES: [&str; 8] = [
            "createCollection",
            "createIndex",
            "dropCollection",
            "dropIndex",
            "insert",
            "remove",
            "renameCollectionSameDB",
            "update",
        ];
        let privileges = self.0.iter().map(|right| {
            let mut resource = rawdoc! { "db": database };
            resource.append(cstr!("collection"), right.collection().unwrap_or_default());
            let writes: &[&str] = if right.writes { &WRITES } else { &[] };
            let of_all: &[&str] = match right.collection {
                None => &READS_ALL,
                Some(_) => &[],
            };
            let actions = READS.iter().chain(of_all).chain(writes).copied();
            rawdoc! { "resource": resource, "actions": RawArrayBuf::from_iter(actions) }
        });
        RawArrayBuf::from_iter(privileges)
    }
}

impl CollectionRights for UserRights {
    fn can_read(&self, collection: &str) -> bool {
        !is_secret(collection) && self.any(Some(collection), false)
    }

    fn can_write(&self, collection: &str) -> bool {
        !is_secret(collection) && self.any(Some(collection), true)
    }
}
