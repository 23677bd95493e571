//! The users of a database, which are stored in its store.

use odm::{
    Collections, Error, ErrorKind, Result,
    bson::{
        Binary, RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf, oid::ObjectId, raw::cstr,
        rawdoc, spec::BinarySubtype,
    },
};

use super::{
    rights::{Right, UserRights},
    scram::{Credentials, MECHANISM, random},
};

/// The longest name of a user.
const MAX_NAME: usize = 256;

/// The `_id` of the document with the secret of [`secret`], beside the users' documents: no user has an empty name.
const SECRET: &str = "";

/// The users of a database, which a server with [`require_users`](crate::Builder::require_users) lets in.
///
/// They are documents of the store of the database, and changes hold at once: a right that is withdrawn holds for the next command of
/// connections that are open already. A user belongs to one database, and has rights on its collections alone. What the store has of a
/// password is what SCRAM-SHA-256 needs to check it, with 15,000 iterations, and never the password.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::Collections;
/// use odm_server::{Right, Users};
///
/// let collections = Collections::of(&shop);
/// let users = Users::of(&collections);
/// users.create("ann", "a long secret", [Right::read("products"), Right::read_write("reviews")]).await?;
/// users.set_rights("ann", [Right::read_all()]).await?;
/// assert_eq!(users.list().await?[0].rights, [Right::read_all()]);
/// # Ok(()) });
/// ```
#[derive(Debug, Clone)]
pub struct Users {
    collections: Collections,
}

/// A user, from [`Users::list`].
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm_server::{Right, Users};
///
/// let users = Users::of(&odm::Collections::of(&shop));
/// users.create("ann", "a long secret", [Right::read_all()]).await?;
/// let ann = &users.list().await?[0];
/// assert_eq!((ann.name.as_str(), ann.rights.len()), ("ann", 1));
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct User {
    /// The name.
    pub name: String,
    /// The rights.
    pub rights: Vec<Right>,
}

impl Users {
    /// The users in the store of these collections.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let users = odm_server::Users::of(&odm::Collections::of(&shop));
    /// assert!(users.list().await?.is_empty());
    /// # Ok(()) });
    /// ```
    pub fn of(collections: &Collections) -> Users {
        Users {
            collections: collections.clone(),
        }
    }

    /// Creates a user.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm_server::{Right, Users};
    ///
    /// let users = Users::of(&odm::Collections::of(&shop));
    /// users.create("ann", "a long secret", [Right::read_write_all()]).await?;
    /// assert!(users.create("ann", "another secret", []).await.unwrap_err().is_duplicate_key());
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `DuplicateKey` if there is one of the name; `InvalidQuery` if the name is empty, longer than 256 bytes or has control characters, if
    /// the password is empty or has characters that SASLprep prohibits, or if the name of a collection is invalid.
    pub async fn create(
        &self,
        name: &str,
        password: &str,
        rights: impl IntoIterator<Item = Right>,
    ) -> Result<()> {
        if name.is_empty() || name.len() > MAX_NAME || name.contains(char::is_control) {
            let message = format!(
                "invalid name of a user: it has 1 to {MAX_NAME} bytes, and no control characters"
            );
            return Err(Error::new(ErrorKind::InvalidQuery, message));
        }
        let account = Account {
            id: ObjectId::new(),
            credentials: Credentials::of_password(password)?,
            rights: checked(rights)?,
        };
        let created = account.to_document(name);
        let shown = name.to_owned();
        let change = move |before: Option<&RawDocument>| match before {
            None => Ok(Some(created.clone())),
            Some(_) => {
                let message =
                    format!("user `{shown}` exists already: set their password or their rights");
                Err(Error::new(ErrorKind::DuplicateKey, message))
            }
        };
        self.collections.change_user(name, change).await.map(drop)
    }

    /// Gives a user another password. Connections that are open already stay open.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm_server::{Right, Users};
    ///
    /// let users = Users::of(&odm::Collections::of(&shop));
    /// users.create("ann", "a long secret", [Right::read_all()]).await?;
    /// users.set_password("ann", "another secret").await?;
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no user of the name; `InvalidQuery` as of [`create`](Users::create).
    pub async fn set_password(&self, name: &str, password: &str) -> Result<()> {
        let credentials = Credentials::of_password(password)?;
        self.change(name, move |account| Account {
            credentials: credentials.clone(),
            ..account
        })
        .await
    }

    /// Gives a user these rights in the place of those before.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm_server::{Right, Users};
    ///
    /// let users = Users::of(&odm::Collections::of(&shop));
    /// users.create("ann", "a long secret", [Right::read_write_all()]).await?;
    /// users.set_rights("ann", [Right::read("parts")]).await?;
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no user of the name; `InvalidQuery` as of [`create`](Users::create).
    pub async fn set_rights(
        &self,
        name: &str,
        rights: impl IntoIterator<Item = Right>,
    ) -> Result<()> {
        let rights = checked(rights)?;
        self.change(name, move |account| Account {
            rights: rights.clone(),
            ..account
        })
        .await
    }

    /// Removes a user, and returns whether there was one of the name. Their connections can run no further command, even if a user
    /// of the same name is created later.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let users = odm_server::Users::of(&odm::Collections::of(&shop));
    /// users.create("ann", "a long secret", []).await?;
    /// assert!(users.remove("ann").await?);
    /// assert!(!users.remove("ann").await?);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of the store.
    pub async fn remove(&self, name: &str) -> Result<bool> {
        self.collections.change_user(name, |_| Ok(None)).await
    }

    /// Lists the users in the order of their names.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let users = odm_server::Users::of(&odm::Collections::of(&shop));
    /// users.create("ben", "a long secret", []).await?;
    /// users.create("ann", "a long secret", []).await?;
    /// assert_eq!(users.list().await?[0].name, "ann");
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of the store; `Schema` if a newer version of the library has written a user.
    pub async fn list(&self) -> Result<Vec<User>> {
        let stored = self.collections.users().await?;
        let users = stored.iter().map(|document| {
            let name = document.get_str("_id").map_err(|_| unreadable())?;
            if name == SECRET {
                return Ok(None);
            }
            Ok(Some(User {
                name: name.to_owned(),
                rights: Account::read(document)?.rights.0,
            }))
        });
        users.filter_map(Result::transpose).collect()
    }

    async fn change(
        &self,
        name: &str,
        change: impl Fn(Account) -> Account + Send + Sync + 'static,
    ) -> Result<()> {
        let shown = name.to_owned();
        let changed = move |before: Option<&RawDocument>| match before {
            Some(before) => Ok(Some(change(Account::read(before)?).to_document(&shown))),
            None => {
                let message = format!("user `{shown}` not found");
                Err(Error::new(ErrorKind::NotFound, message))
            }
        };
        self.collections.change_user(name, changed).await.map(drop)
    }
}

/// The secret from which the challenges of names without a user follow. It is stored: if it were another one after a restart, so would be
/// the challenges of these names, and not the challenges of users.
pub(crate) async fn secret(collections: &Collections) -> Result<[u8; 32]> {
    let fresh = random()?;
    let mut made = rawdoc! { "_id": SECRET };
    made.append(cstr!("secret"), binary(&fresh));
    if collections.user(SECRET).await?.is_none() {
        let make = move |before: Option<&RawDocument>| {
            Ok(Some(before.map_or_else(|| made.clone(), ToOwned::to_owned)))
        };
        if let Err(error) = collections.change_user(SECRET, make).await {
            // Such as that of a store that is only read.
            tracing::warn!(target: "odm", %error, "secret of challenges not stored: they tell users from other names after a restart");
            return Ok(fresh);
        }
    }
    let stored = collections.user(SECRET).await?.ok_or_else(unreadable)?;
    let secret = stored.get_binary("secret").map_err(|_| unreadable())?;
    secret.bytes.try_into().map_err(|_| unreadable())
}

fn binary(bytes: &[u8]) -> Binary {
    Binary {
        subtype: BinarySubtype::Generic,
        bytes: bytes.to_vec(),
    }
}

fn checked(rights: impl IntoIterator<Item = Right>) -> Result<UserRights> {
    let rights = rights
        .into_iter()
        .map(|right| right.check().map(|()| right));
    Ok(UserRights(rights.collect::<Result<_>>()?))
}

fn unreadable() -> Error {
    let message = "unreadable user: a document of `_odm_users` is not what this version of the library writes; use a newer version of the \
                   library";
    Error::new(ErrorKind::Schema, message)
}

/// The stored fields of a user besides the name.
#[derive(Debug, Clone)]
pub(crate) struct Account {
    /// It tells a user from an earlier one of the same name.
    pub(crate) id: ObjectId,
    pub(crate) credentials: Credentials,
    pub(crate) rights: UserRights,
}

impl Account {
    /// The account of a user, if there is one.
    pub(crate) async fn of(collections: &Collections, name: &str) -> Result<Option<Account>> {
        let stored = collections.user(name).await?;
        stored.map(|stored| Account::read(&stored)).transpose()
    }

    fn to_document(&self, name: &str) -> RawDocumentBuf {
        let Credentials {
            salt,
            iterations,
            stored_key,
            server_key,
        } = &self.credentials;
        let mut scram = rawdoc! { "iterationCount": *iterations };
        scram.append(cstr!("salt"), binary(salt));
        scram.append(cstr!("storedKey"), binary(stored_key));
        scram.append(cstr!("serverKey"), binary(server_key));
        let rights = self.rights.0.iter().map(Right::to_document);
        let mut document = rawdoc! { "_id": name };
        document.append(cstr!("account"), self.id);
        let mut credentials = RawDocumentBuf::new();
        credentials.append(cstr!("SCRAM-SHA-256"), scram);
        document.append(cstr!("credentials"), credentials);
        document.append(cstr!("rights"), RawArrayBuf::from_iter(rights));
        document
    }

    fn read(document: &RawDocument) -> Result<Account> {
        let read = || {
            let id = document.get_object_id("account").ok()?;
            let credentials = document.get_document("credentials").ok()?;
            let scram = credentials.get_document(MECHANISM).ok()?;
            let binary = |name| scram.get_binary(name).ok().map(|binary| binary.bytes);
            let credentials = Credentials {
                salt: binary("salt")?.to_vec(),
                iterations: scram.get_i32("iterationCount").ok()?,
                stored_key: binary("storedKey")?.try_into().ok()?,
                server_key: binary("serverKey")?.try_into().ok()?,
            };
            let rights = document.get_array("rights").ok()?.into_iter();
            let rights = rights.map(|right| match right {
                Ok(RawBsonRef::Document(right)) => Right::of_document(right),
                _ => None,
            });
            Some(Account {
                id,
                credentials,
                rights: UserRights(rights.collect::<Option<_>>()?),
            })
        };
        read().ok_or_else(unreadable)
    }
}
