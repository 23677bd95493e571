//! The same questions, asked of redb by hand.

use std::{path::Path, sync::Arc};

use odm::{ObjectId, bson};
use redb::{Database, ReadableDatabase, TableDefinition};
use serde::de::DeserializeOwned;
use tokio::sync::{mpsc, oneshot};

use super::{Data, LogMsg, Part, Product};

const PARTS: TableDefinition<'_, &[u8; 12], &[u8]> = TableDefinition::new("parts");
const PARTS_BY_NUMBER: TableDefinition<'_, &str, &[u8; 12]> =
    TableDefinition::new("parts_by_number");
const PRODUCTS: TableDefinition<'_, i64, &[u8]> = TableDefinition::new("products");
const PRODUCTS_BY_NUMBER: TableDefinition<'_, i64, i64> =
    TableDefinition::new("products_by_number");
const MESSAGES: TableDefinition<'_, &[u8; 12], &[u8]> = TableDefinition::new("messages");
/// Host, time descending, id.
const NEWEST: TableDefinition<'_, (i64, i64, &[u8; 12]), ()> = TableDefinition::new("newest");

#[derive(Clone)]
pub(super) struct Raw {
    db: Arc<Database>,
    writer: mpsc::Sender<(Part, oneshot::Sender<()>)>,
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> T {
    bson::deserialize_from_slice(bytes).expect("a stored document is readable")
}

fn write<T: serde::Serialize>(value: &T) -> Vec<u8> {
    bson::serialize_to_vec(value).expect("a document is BSON")
}

impl Raw {
    pub(super) fn create(path: &Path, data: &Data) -> Raw {
        let db = Arc::new(Database::create(path).expect("a file is created"));
        let load = || -> Result<(), redb::Error> {
            let transaction = db.begin_write()?;
            {
                let mut parts = transaction.open_table(PARTS)?;
                let mut by_number = transaction.open_table(PARTS_BY_NUMBER)?;
                for part in &data.parts {
                    parts.insert(&part.id.bytes(), write(part).as_slice())?;
                    by_number.insert(part.partno.as_str(), &part.id.bytes())?;
                }
                let mut products = transaction.open_table(PRODUCTS)?;
                let mut by_number = transaction.open_table(PRODUCTS_BY_NUMBER)?;
                for product in &data.products {
                    products.insert(product.id, write(product).as_slice())?;
                    by_number.insert(product.catalog_number, product.id)?;
                }
                let mut messages = transaction.open_table(MESSAGES)?;
                let mut newest = transaction.open_table(NEWEST)?;
                for message in &data.messages {
                    messages.insert(&message.id.bytes(), write(message).as_slice())?;
                    let time = -message.time.timestamp_millis();
                    newest.insert((*message.host.id(), time, &message.id.bytes()), ())?;
                }
            }
            transaction.commit()?;
            Ok(())
        };
        load().expect("the data is stored");

        // Group commit by hand: whatever waits is committed together.
        let (writer, mut queue) = mpsc::channel::<(Part, oneshot::Sender<()>)>(1024);
        let writing = db.clone();
        std::thread::spawn(move || {
            while let Some(first) = queue.blocking_recv() {
                let mut group = vec![first];
                while let Ok(next) = queue.try_recv() {
                    group.push(next);
                }
                commit(&writing, &group).expect("a group is stored");
                for (_, done) in group {
                    done.send(()).expect("the task waits");
                }
            }
        });
        Raw { db, writer }
    }

    pub(super) fn part(&self, id: ObjectId) -> Part {
        let get = || -> Result<_, redb::Error> {
            let parts = self.db.begin_read()?.open_table(PARTS)?;
            Ok(parts.get(&id.bytes())?.map(|bytes| read(bytes.value())))
        };
        get().expect("a read").expect("it is there")
    }

    pub(super) fn part_by_number(&self, number: &str) -> Part {
        let get = || -> Result<_, redb::Error> {
            let transaction = self.db.begin_read()?;
            let by_number = transaction.open_table(PARTS_BY_NUMBER)?;
            let id = by_number.get(number)?.expect("it is there");
            let parts = transaction.open_table(PARTS)?;
            Ok(parts.get(id.value())?.map(|bytes| read(bytes.value())))
        };
        get().expect("a read").expect("it is there")
    }

    pub(super) fn product_with_parts(&self, id: i64) -> (Product, Vec<Part>) {
        let get = || -> Result<_, redb::Error> {
            let transaction = self.db.begin_read()?;
            let products = transaction.open_table(PRODUCTS)?;
            let product: Product = read(products.get(id)?.expect("it is there").value());
            let table = transaction.open_table(PARTS)?;
            let mut parts = Vec::with_capacity(product.parts.len());
            for part in &product.parts {
                parts.push(read(
                    table.get(&part.id().bytes())?.expect("it is there").value(),
                ));
            }
            Ok((product, parts))
        };
        get().expect("a read")
    }

    pub(super) fn products_from(&self, number: i64, limit: usize) -> Vec<Product> {
        let get = || -> Result<_, redb::Error> {
            let transaction = self.db.begin_read()?;
            let by_number = transaction.open_table(PRODUCTS_BY_NUMBER)?;
            let products = transaction.open_table(PRODUCTS)?;
            let mut page = Vec::with_capacity(limit);
            for entry in by_number.range(number..)?.take(limit) {
                page.push(read(
                    products
                        .get(entry?.1.value())?
                        .expect("it is there")
                        .value(),
                ));
            }
            Ok(page)
        };
        get().expect("a read")
    }

    pub(super) fn newest(&self, host: i64, limit: usize) -> Vec<LogMsg> {
        let get = || -> Result<_, redb::Error> {
            let transaction = self.db.begin_read()?;
            let newest = transaction.open_table(NEWEST)?;
            let messages = transaction.open_table(MESSAGES)?;
            let mut found = Vec::with_capacity(limit);
            let all = (host, i64::MIN, &[0; 12])..(host + 1, i64::MIN, &[0; 12]);
            for entry in newest.range(all)?.take(limit) {
                let entry = entry?;
                let (_, _, id) = entry.0.value();
                found.push(read(messages.get(id)?.expect("it is there").value()));
            }
            Ok(found)
        };
        get().expect("a read")
    }

    pub(super) async fn insert(&self, part: Part) {
        let (done, stored) = oneshot::channel();
        self.writer
            .send((part, done))
            .await
            .expect("the writer runs");
        stored.await.expect("it is stored");
    }
}

fn commit(db: &Database, group: &[(Part, oneshot::Sender<()>)]) -> Result<(), redb::Error> {
    let transaction = db.begin_write()?;
    {
        let mut parts = transaction.open_table(PARTS)?;
        let mut by_number = transaction.open_table(PARTS_BY_NUMBER)?;
        for (part, _) in group {
            if by_number
                .insert(part.partno.as_str(), &part.id.bytes())?
                .is_some()
            {
                panic!("the part number `{}` is taken", part.partno);
            }
            parts.insert(&part.id.bytes(), write(part).as_slice())?;
        }
    }
    transaction.commit()?;
    Ok(())
}
