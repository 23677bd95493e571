//! The databases of the systems, with their repositories as the writers of any model.

use examples::guides::{
    blogs::Blogs,
    contacts::{moderate_error, moderate_warn, strict_error, strict_warn},
    favourites::Favourites,
    hosts::Logs,
    messages::Messages,
    movies::Movies,
    part_names::PartNames,
    patrons::Patrons,
    people::People,
    product_names::ProductNames,
    products::Catalog,
    publishers::Publishers,
    reviews::Reviews,
    tasks::Tasks,
};
use futures_util::future::{BoxFuture, FutureExt};
use odm::{Collections, Database, Embedded, Finding, repository::Audit};

use crate::repositories::Writer;

/// A database of a system.
pub(crate) struct System {
    /// Its name.
    pub(crate) name: &'static str,
    open: fn(Embedded) -> BoxFuture<'static, odm::Result<Opened>>,
}

impl System {
    /// Opens the database on a store.
    pub(crate) async fn open(&self, store: Embedded) -> odm::Result<Opened> {
        (self.open)(store).await
    }
}

/// An open database.
pub(crate) struct Opened {
    /// Whether its store was empty.
    pub(crate) is_new: bool,
    /// Its collections for clients, with the checks of its models.
    pub(crate) collections: Collections,
    /// Its repositories.
    pub(crate) writers: Vec<Box<dyn Writer>>,
    audit: Box<dyn Fn() -> Audit + Send + Sync>,
}

impl Opened {
    /// Compares all documents with the models.
    pub(crate) async fn audit(&self) -> odm::Result<Vec<Finding>> {
        (self.audit)().await
    }
}

/// Whether nothing was stored yet.
async fn is_empty(store: &Embedded) -> odm::Result<bool> {
    let collections = Collections::open(store.clone()).await?;
    Ok(collections.list().await?.is_empty())
}

/// Lists databases by their types and repositories. The function before a type prepares an empty store.
macro_rules! systems {
    ($($([$prepare:path])? $database:path: $($repository:ident),+;)+) => {
        /// All databases: those of the systems `S1` to `S14`, some of which have several, and some share one.
        pub(crate) const SYSTEMS: &[System] = &[$(System {
            name: <$database>::NAME,
            open: |store| async move {
                let is_new = is_empty(&store).await?;
                $(if is_new {
                    $prepare(&store).await?;
                })?
                let database = <$database>::open(store).await?;
                Ok(Opened {
                    is_new,
                    collections: Collections::of(&database),
                    writers: vec![$(Box::new(database.$repository.clone())),+],
                    audit: Box::new(move || database.audit()),
                })
            }
            .boxed(),
        }),+];
    };
}

systems! {
    Patrons: with_address, with_addresses, patrons, addresses;
    People: person;
    Reviews: products, reviews, hosts, logmsg;
    Movies: movies;
    Publishers: with_books, books, publishers, published;
    Catalog: products, parts;
    Logs: hosts, logmsg;
    Tasks: people, tasks;
    PartNames: products, parts;
    ProductNames: products, parts, sharing_products, shared_parts;
    Messages: hosts, logmsg, without_host;
    Favourites: posts, comments, movies, roles;
    Blogs: blogs, posts, comments;
    // With contacts from before each needed a phone number.
    [strict_error::tighten] strict_error::Contacts: contacts;
    [strict_warn::tighten] strict_warn::Contacts: contacts;
    [moderate_error::tighten] moderate_error::Contacts: contacts;
    [moderate_warn::tighten] moderate_warn::Contacts: contacts;
}
