//! The fields of a database.

use crate::{repository::Repository, session::Session};

/// A field of a database: the repository of one model.
#[doc(hidden)]
pub trait RepositoryField {
    /// Makes the repository over a session.
    fn bind(session: &Session) -> Self;
    /// Returns the session of the repository.
    fn session(&self) -> &Session;
}

impl<M> RepositoryField for Repository<M> {
    fn bind(session: &Session) -> Self {
        Repository::new(session.clone())
    }

    fn session(&self) -> &Session {
        self.session()
    }
}
