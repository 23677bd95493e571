//! The programs of a history, which carry out its acts.

use futures_util::future::{FutureExt, LocalBoxFuture};
use odm::{
    Audit, Embedded, Error, ErrorKind,
    bson::{self, Bson, Document, RawDocumentBuf, doc},
    prelude::*,
    repository::{
        Delete, DeleteWhere, InsertMany, MatchingDocuments, OneDocument, RawWrite, UpsertBy, Writes,
    },
};
use serde::de::DeserializeOwned;

use super::{
    acts::{Act, Change, Found, Raw, Write},
    models::{desk, first, fourth, reports, second, third},
    run::options,
};

/// A model, with the writes that name its fields.
pub(crate) trait Written: odm::Document + 'static {
    /// Changes of fields, with a number.
    fn typed(number: i32) -> Update<Self>;

    /// Changes of single elements of lists and entries of maps.
    fn elements(number: i32) -> Update<Self> {
        Self::typed(number)
    }

    /// The changes of a patch with these fields.
    fn patch(fields: &Document) -> Update<Self> {
        Update::new().raw(doc! { "$set": fields.clone() })
    }

    fn if_version(update: Update<Self, OneDocument>, _version: i64) -> Update<Self, OneDocument> {
        update
    }

    fn insert_new(_: &Repository<Self>, _: &[Document]) -> InsertMany<Self> {
        panic!("`{}` has no sequence", Self::COLLECTION);
    }

    fn upsert_by(_: &Repository<Self>, _: &Document) -> UpsertBy<Self> {
        panic!("`{}` has no unique key", Self::COLLECTION);
    }
}

fn typed<T: DeserializeOwned>(document: &Document) -> T {
    let read = bson::deserialize_from_slice(raw(document).as_bytes());
    read.unwrap_or_else(|error| panic!("{error}: {document}"))
}

fn raw(document: &Document) -> RawDocumentBuf {
    RawDocumentBuf::try_from(document).expect("it is BSON")
}

/// The documents of acts with these names.
fn named<M: odm::Document>(names: &[Bson]) -> Filter<M> {
    let field = match M::COLLECTION {
        "tickets" => "code",
        _ => "_id",
    };
    Filter::raw(doc! { field: { "$in": names } })
}

/// The `_id` of the document that acts name so; an unused one if there is no such document.
async fn id_of<M: odm::Document>(repository: &Repository<M>, name: &Bson) -> odm::Result<Bson> {
    if M::COLLECTION != "tickets" {
        return Ok(name.clone());
    }
    let found = repository.raw().find(named(std::slice::from_ref(name)));
    let id = found.first().await?.map(|ticket| match ticket.get("_id") {
        Ok(Some(id)) => id.try_into().expect("an `_id` is BSON"),
        _ => panic!("a ticket without an `_id`"),
    });
    Ok(id.unwrap_or(Bson::Int64(-9)))
}

async fn reference<M: odm::Document>(
    repository: &Repository<M>,
    name: &Bson,
) -> odm::Result<Ref<M>> {
    let id = bson::deserialize_from_bson(id_of(repository, name).await?);
    Ok(Ref::new(id.expect("the `_id` fits")))
}

/// A whole document with the version of the stored one, so that the write is not stale.
async fn fresh<M: odm::Document>(
    repository: &Repository<M>,
    document: &Document,
) -> odm::Result<Document> {
    let mut document = document.clone();
    let id = document.get("_id").cloned().expect("it is whole");
    let stored = repository.raw().find(Filter::raw(doc! { "_id": id }));
    if let Some(stored) = stored.first().await?
        && let Ok(Some(revision)) = stored.get("revision")
    {
        let revision = Bson::try_from(revision).expect("it is stored");
        document.insert("revision", revision);
    }
    Ok(document)
}

/// Writes that can be parts of a bulk, the writes of each builder together.
#[allow(clippy::type_complexity, reason = "it is written once")]
type Parts<M> = (
    Vec<InsertMany<M>>,
    Vec<RawWrite<M>>,
    Vec<UpsertBy<M>>,
    Vec<Update<M, OneDocument>>,
    Vec<Update<M, MatchingDocuments>>,
    Vec<Delete<M>>,
    Vec<DeleteWhere<M>>,
);

/// The builders of the writes to a repository.
async fn parts<M: Written>(
    repository: &Repository<M>,
    changes: &[&Change],
) -> odm::Result<Parts<M>> {
    let mut parts: Parts<M> = Default::default();
    let (inserts, raws, upserts, updates, updates_where, deletes, deletes_where) = &mut parts;
    for change in changes {
        match change {
            Change::Insert(document) => {
                inserts.push(repository.insert_many([typed::<M>(document)]));
            }
            Change::InsertMany(documents) => {
                inserts.push(repository.insert_many(documents.iter().map(typed::<M>)));
            }
            Change::InsertNew(documents) => inserts.push(M::insert_new(repository, documents)),
            Change::Raw(Raw::Insert, document) => {
                raws.push(repository.raw().insert(raw(document)));
            }
            Change::Raw(Raw::Replace, document) | Change::Replace(document) => {
                let document = fresh(repository, document).await?;
                raws.push(repository.raw().replace(raw(&document)));
            }
            Change::Raw(Raw::Upsert, document) | Change::Upsert(document) => {
                let document = fresh(repository, document).await?;
                raws.push(repository.raw().upsert(raw(&document)));
            }
            Change::UpsertMany(documents) => {
                for document in documents {
                    raws.push(repository.raw().upsert(raw(document)));
                }
            }
            Change::UpsertBy(document, found) => {
                let upsert = M::upsert_by(repository, document);
                upserts.push(match found {
                    Found::Replaced => upsert,
                    Found::Kept => upsert.keep(),
                    Found::Updated(update) => upsert.update(Update::new().raw(update.clone())),
                });
            }
            Change::UpdateWhere(names, update) => {
                updates_where.push(repository.update_where(named(names)).raw(update.clone()));
            }
            Change::UpsertWhere(name, update) => {
                let id = id_of(repository, name).await?;
                let update =
                    repository.update_where(Filter::raw(doc! { "_id": id })).raw(update.clone());
                updates_where.push(update.upsert());
            }
            Change::Delete(name) => {
                deletes.push(repository.delete(reference(repository, name).await?));
            }
            Change::DeleteWhere(names) => {
                deletes_where.push(repository.delete_where(named(names)));
            }
            Change::Modify(name, _)
            | Change::Update(name, _)
            | Change::UpdateVersion(name, _)
            | Change::Typed(name, _)
            | Change::Elements(name, _)
            | Change::Patch(name, _) => {
                let update = repository.update(reference(repository, name).await?);
                updates.push(match change {
                    Change::Modify(_, base) => update.raw(doc! { "$set": base.clone() }),
                    Change::Update(_, raw) => update.raw(raw.clone()),
                    Change::UpdateVersion(_, version) => {
                        M::if_version(update.with(M::typed(*version as i32)), *version)
                    }
                    Change::Elements(_, number) => update.with(M::elements(*number)),
                    Change::Patch(_, fields) => update.with(M::patch(fields)),
                    Change::Typed(_, number) => update.with(M::typed(*number)),
                    other => panic!("it is no update: {other:?}"),
                });
            }
        }
    }
    Ok(parts)
}

/// The writes to one collection, for a bulk.
async fn writes_to<M: Written>(
    repository: &Repository<M>,
    writes: &[Write],
) -> odm::Result<impl Writes> {
    let own = writes.iter().filter(|write| write.collection == M::COLLECTION);
    let changes: Vec<&Change> = own.map(|write| &write.change).collect();
    parts(repository, &changes).await
}

async fn write<M: Written>(repository: &Repository<M>, change: &Change) -> odm::Result<()> {
    match change {
        Change::Insert(document) => return repository.insert(typed::<M>(document)).await.map(drop),
        Change::Replace(document) => {
            let document = typed(&fresh(repository, document).await?);
            return repository.replace(document).await.map(drop);
        }
        Change::Upsert(document) => {
            let document = typed(&fresh(repository, document).await?);
            return repository.upsert(document).await.map(drop);
        }
        Change::UpsertMany(documents) => {
            let mut all = Vec::new();
            for document in documents {
                all.push(typed(&fresh(repository, document).await?));
            }
            return repository.upsert_many(all).await.map(drop);
        }
        Change::Modify(name, base) => {
            let id = reference(repository, name).await?;
            let modified = repository.modify(id, |document: &mut M| {
                let mut all = bson::serialize_to_document(document).expect("it was read");
                all.extend(base.clone());
                *document = typed(&all);
            });
            return modified.await.map(drop);
        }
        _ => {}
    }
    // One of these has it.
    let (inserts, raws, upserts, updates, updates_where, deletes, deletes_where) =
        parts(repository, &[change]).await?;
    for insert in inserts {
        insert.await?;
    }
    for raw in raws {
        raw.await?;
    }
    for upsert in upserts {
        upsert.await?;
    }
    for update in updates {
        update.await?;
    }
    for update in updates_where {
        update.await?;
    }
    for delete in deletes {
        delete.await?;
    }
    for delete in deletes_where {
        delete.await?;
    }
    Ok(())
}

/// A program with its models.
pub(crate) trait Program {
    fn knows(&self, collection: &str) -> bool;
    fn act<'a>(&'a self, act: &'a Act) -> LocalBoxFuture<'a, odm::Result<()>>;
    /// Runs acts in one transaction, and rolls it back or not.
    fn transaction<'a>(
        &'a self,
        acts: &'a [Act],
        rolls_back: bool,
    ) -> LocalBoxFuture<'a, odm::Result<()>>;
    fn audit(&self) -> Audit;
    fn repair(&self) -> Audit;
    fn backfill(&self) -> Audit;
    fn pending(&self) -> Vec<String>;
    fn wait_for_refreshes(&self) -> LocalBoxFuture<'_, odm::Result<()>>;
    fn export(&self) -> LocalBoxFuture<'_, odm::Result<Vec<u8>>>;
    fn import<'a>(&'a self, lines: &'a [u8]) -> LocalBoxFuture<'a, odm::Result<u64>>;
    fn copy_into(&self, store: Embedded) -> LocalBoxFuture<'_, odm::Result<()>>;
}

macro_rules! programs {
    ($($program:ty { $($field:ident),+ })+) => {$(
        impl Program for $program {
            fn knows(&self, collection: &str) -> bool {
                [$(stringify!($field)),+].contains(&collection)
            }

            fn act<'a>(&'a self, act: &'a Act) -> LocalBoxFuture<'a, odm::Result<()>> {
                match act {
                    Act::Write(Write { collection, change }) => match *collection {
                        $(stringify!($field) => write(&self.$field, change).boxed_local(),)+
                        other => panic!("`{other}` is not known"),
                    },
                    Act::Bulk(writes) => async move {
                        let parts = ($(writes_to(&self.$field, writes).await?,)+);
                        self.bulk(parts).await.map(drop)
                    }
                    .boxed_local(),
                    Act::DeleteExpired => self.delete_expired().map(|done| done.map(drop)).boxed_local(),
                }
            }

            fn transaction<'a>(
                &'a self,
                acts: &'a [Act],
                rolls_back: bool,
            ) -> LocalBoxFuture<'a, odm::Result<()>> {
                let run = Database::transaction(self, async move |program: Self| {
                    for act in acts {
                        program.act(act).await?;
                    }
                    match rolls_back {
                        true => Err(Error::new(ErrorKind::NotFound, "rolled back")),
                        false => Ok(()),
                    }
                });
                run.boxed_local()
            }

            fn audit(&self) -> Audit {
                Database::audit(self)
            }

            fn repair(&self) -> Audit {
                Database::repair(self)
            }

            fn backfill(&self) -> Audit {
                Database::backfill(self)
            }

            fn pending(&self) -> Vec<String> {
                self.pending_backfills()
            }

            fn wait_for_refreshes(&self) -> LocalBoxFuture<'_, odm::Result<()>> {
                Database::wait_for_refreshes(self).boxed_local()
            }

            fn export(&self) -> LocalBoxFuture<'_, odm::Result<Vec<u8>>> {
                async move {
                    let mut lines = Vec::new();
                    Database::export(self, &mut lines).await?;
                    Ok(lines)
                }
                .boxed_local()
            }

            fn import<'a>(&'a self, lines: &'a [u8]) -> LocalBoxFuture<'a, odm::Result<u64>> {
                Database::import(self, lines).into_future().boxed_local()
            }

            fn copy_into(&self, store: Embedded) -> LocalBoxFuture<'_, odm::Result<()>> {
                async move {
                    let copy = Self::open_with(store, options()).await?;
                    self.copy_to(&copy).await.map(drop)
                }
                .boxed_local()
            }
        }
    )+};
}

macro_rules! application {
    ($($module:ident),+) => {
        programs! {$(
            $module::Application { regions, shops, persons, items, reviews, orders, tickets }
        )+}

        $(
            impl Written for $module::Region {
                fn typed(number: i32) -> Update<Self> {
                    Update::new().set($module::Region::fields().name, format!("name {number}"))
                }
            }

            impl Written for $module::Shop {
                fn typed(number: i32) -> Update<Self> {
                    let region = (number < 3).then(|| Ref::new(number));
                    Update::new().set($module::Shop::fields().region, region)
                }

                fn patch(fields: &Document) -> Update<Self> {
                    Update::new().set_all(typed::<$module::ShopPatch>(fields))
                }

                fn if_version(
                    update: Update<Self, OneDocument>,
                    version: i64,
                ) -> Update<Self, OneDocument> {
                    update.if_version(version)
                }
            }

            impl Written for $module::Person {
                fn typed(number: i32) -> Update<Self> {
                    Update::new().set($module::Person::fields().name, format!("name {number}"))
                }

                fn patch(fields: &Document) -> Update<Self> {
                    Update::new().set_all(typed::<$module::PersonPatch>(fields))
                }

                fn if_version(
                    update: Update<Self, OneDocument>,
                    version: i64,
                ) -> Update<Self, OneDocument> {
                    update.if_version(version)
                }
            }

            impl Written for $module::Item {
                fn typed(number: i32) -> Update<Self> {
                    Update::new()
                        .set($module::Item::fields().title, format!("name {number}"))
                        .inc($module::Item::fields().price, 1)
                }

                fn elements(number: i32) -> Update<Self> {
                    let similar = $module::Item::fields().similar;
                    let other = (number + 1) % 6;
                    match number % 2 {
                        0 => Update::new().update_each(
                            similar,
                            |link| link.id.eq(number),
                            |link, changes| changes.set(link.id, other),
                        ),
                        _ => Update::new()
                            .update_at(similar, 0, |link, changes| changes.set(link.id, other)),
                    }
                }

                fn patch(fields: &Document) -> Update<Self> {
                    Update::new().set_all(typed::<$module::ItemPatch>(fields))
                }

                fn if_version(
                    update: Update<Self, OneDocument>,
                    version: i64,
                ) -> Update<Self, OneDocument> {
                    update.if_version(version)
                }
            }

            impl Written for $module::Review {
                fn typed(number: i32) -> Update<Self> {
                    Update::new().set($module::Review::fields().stars, number)
                }

                fn patch(fields: &Document) -> Update<Self> {
                    Update::new().set_all(typed::<$module::ReviewPatch>(fields))
                }
            }

            impl Written for $module::Order {
                fn typed(number: i32) -> Update<Self> {
                    Update::new().set($module::Order::fields().note, format!("name {number}"))
                }
            }

            impl Written for $module::Ticket {
                fn typed(number: i32) -> Update<Self> {
                    let until = (number < 3).then(|| DateTime::from_millis(number.into()));
                    Update::new().set($module::Ticket::fields().until, until)
                }

                fn elements(number: i32) -> Update<Self> {
                    let ticket = $module::Ticket::fields();
                    match number {
                        0 => Update::new().set_entry(ticket.notes, "a", number),
                        1 => Update::new().unset_entry(ticket.notes, "b"),
                        2 => Update::new()
                            .update_entry(ticket.notes, "b", |note, changes| changes.inc(*note, 1)),
                        3 => Update::new().update_each(
                            ticket.lines,
                            |_| Filter::all(),
                            |line, changes| changes.inc(line.quantity, 1),
                        ),
                        4 => Update::new().update_each(
                            ticket.lines,
                            |line| line.quantity.gte(2),
                            |line, changes| changes.mul(line.quantity, 3),
                        ),
                        _ => Update::new()
                            .update_at(ticket.lines, 0, |line, changes| changes.inc(line.quantity, 1)),
                    }
                }

                fn if_version(
                    update: Update<Self, OneDocument>,
                    version: i64,
                ) -> Update<Self, OneDocument> {
                    update.if_version(version)
                }

                fn insert_new(
                    repository: &Repository<Self>,
                    documents: &[Document],
                ) -> InsertMany<Self> {
                    let documents = documents.iter().map(typed::<$module::NewTicket>);
                    repository.insert_many(documents)
                }

                fn upsert_by(
                    repository: &Repository<Self>,
                    document: &Document,
                ) -> UpsertBy<Self> {
                    let code = $module::Ticket::fields().code;
                    repository.upsert_by(code, typed::<$module::NewTicket>(document))
                }
            }
        )+
    };
}

application!(first, second, third, fourth);

programs! {
    reports::Reports { regions, shops, items }
    desk::Desk { persons, reviews }
}

impl Written for reports::Region {
    fn typed(number: i32) -> Update<Self> {
        Update::new().set(reports::Region::fields().name, format!("name {number}"))
    }
}

impl Written for reports::Shop {
    fn typed(number: i32) -> Update<Self> {
        let region = (number < 3).then(|| Ref::new(number));
        Update::new().set(reports::Shop::fields().region, region)
    }
}

impl Written for reports::Item {
    fn typed(number: i32) -> Update<Self> {
        Update::new().mul(reports::Item::fields().price, number)
    }

    /// A different change of any item, by which `outcomes` detects that this program has no similar items.
    fn elements(_: i32) -> Update<Self> {
        Update::new().inc(reports::Item::fields().price, 1)
    }
}

impl Written for desk::Person {
    fn typed(number: i32) -> Update<Self> {
        Update::new().set(desk::Person::fields().name, format!("name {number}"))
    }
}

impl Written for desk::Review {
    fn typed(number: i32) -> Update<Self> {
        Update::new().set(desk::Review::fields().stars, number)
    }
}
