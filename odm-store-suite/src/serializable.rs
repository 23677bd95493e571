//! Serializable transactions: the transactions that commit have the same effects, and were told the same, as one after another.
//!
//! Each promise is about a transaction that reads, and then writes the consequences. Another one changes meanwhile the documents that it
//! has read. Where others write while a transaction is open, the first one loses by that, leaves nothing, and is run again. Elsewhere the
//! two wait for each other. Both ways lead to what one after the other leads to.

use bson::{Document, doc};
use odm_mql::{Group, group::GroupKey};
use odm_store::{Aggregate, DeleteWrite, Error, ErrorKind, Find, Result, Store, Transaction};

use super::support::*;

/// Writes, and ends the transaction.
async fn end(mut transaction: Box<dyn Transaction>, writes: &[Write]) -> Result<()> {
    match apply(&mut *transaction, writes).await {
        Ok(()) => transaction.commit().await,
        Err(error) => {
            transaction.rollback().await?;
            Err(error)
        }
    }
}

fn assert_lost(ended: Result<()>) {
    let error: Error = ended.expect_err("what it has read is not true any more");
    assert!(error.is_retryable(), "{error:?}");
    assert_eq!(error.kind(), ErrorKind::TransactionAborted, "{error:?}");
}

/// Commits the writes `meanwhile` while a transaction is open that has read, and ends this one by the writes that follow from what it has
/// read. Returns what its last run has read.
async fn run_with<T: Clone>(
    store: &impl Store,
    meanwhile: &[Write],
    reads: impl AsyncFn(&mut dyn Transaction) -> T,
    follows: impl Fn(T) -> Vec<Write>,
) -> T {
    let others = async || {
        let mut transaction = begin(store).await;
        let applied = apply(&mut *transaction, meanwhile).await;
        applied.expect("the batch is applied");
        tokio::task::yield_now().await;
        transaction.commit().await.expect("the others commit");
    };
    let run = async || {
        let mut transaction = begin(store).await;
        let read = reads(&mut *transaction).await;
        let ended = end(transaction, &follows(read.clone())).await;
        ended.expect("the transaction commits");
        read
    };
    if !store.capabilities().outer_writes {
        return tokio::join!(others(), run()).1;
    }
    let mut losing = begin(store).await;
    let read = reads(&mut *losing).await;
    others().await;
    let between = stored(store).await;
    assert_lost(end(losing, &follows(read)).await);
    assert_eq!(stored(store).await, between, "it leaves nothing");
    run().await
}

/// Inserts a document that says how many documents were read.
fn note(number: usize) -> Vec<Write> {
    vec![insert(doc! { "_id": 100, "read": number as i32 })]
}

fn noted(number: i32) -> Document {
    doc! { "_id": 100, "read": number }
}

/// Changes the documents meanwhile, and asserts the results of the reads before and after that by a transaction that notes them.
async fn assert_conflict(
    store: &impl Store,
    documents: &[Document],
    meanwhile: &[Write],
    reads: impl AsyncFn(&mut dyn Transaction) -> usize,
    expected: usize,
) {
    if !store.capabilities().serializable {
        return;
    }
    insert_all(store, documents.iter().cloned()).await;
    let read = run_with(store, meanwhile, reads, note).await;
    assert_eq!(read, expected);
    // For the next case.
    let stored = stored(store).await;
    assert!(stored.contains(&raw(noted(read as i32))), "{stored:?}");
    let all: Vec<Write> = stored.into_iter().map(Write::Remove).collect();
    write(store, &all).await.expect("the batch is applied");
}

pub async fn of_two_transactions_that_each_read_what_the_other_writes_one_is_later(
    store: impl Store,
) {
    if !store.capabilities().serializable {
        return;
    }
    let (on, off) = (
        |id| doc! { "_id": id, "on": true },
        |id| doc! { "_id": id, "on": false },
    );
    insert_all(&store, [on(1), on(2)]).await;
    // Each turns off its own, if both are on: write skew would turn off both.
    let both_are_on = async |transaction: &mut dyn Transaction| {
        let found = got(&*transaction, [1.into(), 2.into()]).await;
        found == [(0, raw(on(1))), (1, raw(on(2)))]
    };
    let follows = |both_are_on| match both_are_on {
        true => vec![replace(on(2), off(2))],
        false => vec![],
    };
    let first = [replace(on(1), off(1))];
    assert!(!run_with(&store, &first, both_are_on, follows).await);
    assert_stored(&store, [off(1), on(2)]).await;
}

pub async fn no_update_is_lost_to_one_that_began_before_it(store: impl Store) {
    if !store.capabilities().serializable {
        return;
    }
    let thing = |n: i32| doc! { "_id": 1, "n": n };
    insert_all(&store, [thing(1)]).await;
    let read = async |transaction: &mut dyn Transaction| {
        let found = got(&*transaction, [1.into()]).await;
        found[0].1.get_i32("n").expect("a number")
    };
    let follows = |n| vec![replace(thing(n), thing(n + 10))];
    run_with(&store, &[replace(thing(1), thing(2))], read, follows).await;
    assert_stored(&store, [thing(12)]).await;
}

pub async fn a_read_document_that_is_removed_meanwhile_is_a_conflict(store: impl Store) {
    let get = async |transaction: &mut dyn Transaction| got(&*transaction, [1.into()]).await.len();
    let thing = || doc! { "_id": 1 };
    assert_conflict(&store, &[thing()], &[remove(thing())], get, 0).await;
}

pub async fn a_document_that_was_missing_and_is_inserted_meanwhile_is_a_conflict(
    store: impl Store,
) {
    let get = async |transaction: &mut dyn Transaction| got(&*transaction, [1.into()]).await.len();
    assert_conflict(&store, &[], &[insert(doc! { "_id": 1 })], get, 1).await;
}

pub async fn a_phantom_of_a_filter_is_a_conflict(store: impl Store) {
    let thing = |id: i32, n: i32| doc! { "_id": id, "n": n };
    // Once by a scan, and once by a range of an index.
    for indexes in [vec![], vec![index("n", &["n"])]] {
        ensure(&store, indexes).await;
        let from_five = query(doc! { "n": { "$gte": 5 } });
        let first = Find {
            limit: Some(1),
            sort: sort(doc! { "n": 1 }),
            ..from_five.clone()
        };
        for (find, expected) in [(from_five, 2), (first, 1)] {
            let find = async |transaction: &mut dyn Transaction| {
                let ids = ids(&*transaction, &find).await;
                ids.into_iter().filter(|id| *id < 9).count()
            };
            let (one, nine) = (thing(1, 7), thing(9, 9));
            let inserted = [insert(thing(2, 5))];
            assert_conflict(&store, &[one, nine], &inserted, find, expected).await;
        }
    }
}

pub async fn a_phantom_of_a_key_of_an_index_is_a_conflict(store: impl Store) {
    ensure(&store, vec![index("owner", &["owner", "rank"])]).await;
    let find = async |transaction: &mut dyn Transaction| {
        let find = by_key("owner", [1.into(), 2.into()], query(doc! {}));
        let found = ids_by_key(&*transaction, &find).await;
        found.concat().len()
    };
    let document = doc! { "_id": 1, "owner": 1, "rank": 1 };
    let inserted = [insert(doc! { "_id": 2, "owner": [2, 3], "rank": 1 })];
    assert_conflict(&store, &[document], &inserted, find, 2).await;
}

pub async fn a_phantom_of_a_count_and_of_a_group_is_a_conflict(store: impl Store) {
    let document = || doc! { "_id": 1, "n": 1 };
    let inserted = [insert(doc! { "_id": 2, "n": 2 })];
    let count = async |transaction: &mut dyn Transaction| {
        let counted = transaction.count(&query(doc! { "n": { "$gt": 0 } })).await;
        counted.expect("the query runs").0 as usize
    };
    assert_conflict(&store, &[document()], &inserted, count, 2).await;
    let count = async |transaction: &mut dyn Transaction| {
        let find = by_key("n", [2.into(), 3.into()], query(doc! {}));
        let counted = transaction.count_by_key(&find).await;
        counted.expect("the query runs").0[0] as usize
    };
    assert_conflict(&store, &[document()], &inserted, count, 1).await;
    let count = async |transaction: &mut dyn Transaction| {
        let aggregate = Aggregate {
            find: query(doc! { "n": { "$gt": 0 } }),
            group: Group {
                unwind: None,
                keys: vec![GroupKey {
                    path: "n".into(),
                    start_of: None,
                }],
                accumulators: vec![],
            },
            ..Aggregate::default()
        };
        let mut rows = 0;
        let each = &mut |_, _: &bson::RawDocument| {
            rows += 1;
            Ok(std::ops::ControlFlow::Continue(()))
        };
        let grouped = transaction.aggregate(&aggregate, each).await;
        grouped.expect("the groups are computed");
        rows
    };
    assert_conflict(&store, &[document()], &inserted, count, 2).await;
}

pub async fn a_phantom_of_an_update_and_of_a_removal_is_a_conflict(store: impl Store) {
    let inserted = [insert(doc! { "_id": 1, "n": 5 })];
    let update = async |transaction: &mut dyn Transaction| {
        let write = update_of(doc! { "n": 5 }, doc! { "$set": { "n": 6 } });
        let updated = transaction.update(&write).await;
        updated.expect("the update is applied").matched as usize
    };
    assert_conflict(&store, &[], &inserted, update, 1).await;
    let remove = async |transaction: &mut dyn Transaction| {
        let write = DeleteWrite {
            collection: THINGS.to_owned(),
            filter: filter(doc! { "n": 5 }),
        };
        let deleted = transaction.delete(&write).await;
        deleted.expect("the removal is applied").removed as usize
    };
    assert_conflict(&store, &[], &inserted, remove, 1).await;
}

pub async fn a_document_that_leaves_an_answer_or_changes_in_it_is_a_conflict(store: impl Store) {
    let things = [doc! { "_id": 1, "n": 5, "m": 1 }, doc! { "_id": 2, "n": 5 }];
    for (after, expected) in [
        (Some(doc! { "_id": 1, "n": 1, "m": 1 }), 0),
        (Some(doc! { "_id": 1, "n": 5, "m": 7 }), 7),
        (None, 0),
    ] {
        let change = match after {
            Some(after) => replace(things[0].clone(), after),
            None => remove(things[0].clone()),
        };
        let find = async |transaction: &mut dyn Transaction| {
            let found = found(&*transaction, &query(doc! { "n": 5 })).await;
            let numbers = found.iter().filter_map(|thing| thing.get_i32("m").ok());
            numbers.sum::<i32>() as usize
        };
        assert_conflict(&store, &things, &[change], find, expected).await;
    }
}

pub async fn a_unique_key_that_is_taken_meanwhile_is_a_conflict(store: impl Store) {
    if !store.capabilities().serializable {
        return;
    }
    ensure(&store, vec![unique("n", &["n"])]).await;
    let taken = doc! { "_id": 1, "n": 1 };
    let insert_other = [insert(doc! { "_id": 2, "n": 1 })];
    if store.capabilities().outer_writes {
        let losing = begin(&store).await;
        // It fixes the state, and is about nothing that changes.
        assert_eq!(got(&*losing, [0.into()]).await, []);
        insert_all(&store, [taken.clone()]).await;
        assert_lost(end(losing, &insert_other).await);
    } else {
        insert_all(&store, [taken.clone()]).await;
    }
    // Of the transaction that is run again, the key is no conflict any more.
    assert_fails(write(&store, &insert_other).await, ErrorKind::DuplicateKey);
    assert_stored(&store, [taken]).await;
}

/// A withdrawal that costs a fee if it leaves less than nothing in both accounts together. Who has seen the deposit and no withdrawal has
/// seen that the deposit is first, so that there is no fee.
pub async fn a_reader_sees_no_state_that_contradicts_a_later_commit(store: impl Store) {
    if !store.capabilities().serializable {
        return;
    }
    let account = |id: i32, balance: i32| doc! { "_id": id, "balance": balance };
    insert_all(&store, [account(1, 0), account(2, 0)]).await;
    let both = || [1.into(), 2.into()];
    let deposit = [replace(account(2, 0), account(2, 20))];
    let reads = async |transaction: &mut dyn Transaction| {
        let found = got(&*transaction, both()).await;
        let balances = found.iter().map(|(_, account)| account.get_i32("balance"));
        balances.map(|balance| balance.expect("a number")).sum()
    };
    let follows = |sum: i32| {
        let fee = i32::from(sum < 10);
        vec![replace(account(1, 0), account(1, -10 - fee))]
    };
    if store.capabilities().outer_writes {
        let mut withdrawing = begin(&store).await;
        let sum = reads(&mut *withdrawing).await;
        write(&store, &deposit).await.expect("the deposit commits");
        let seen = begin(&store).await;
        let found = got(&*seen, both()).await;
        assert_eq!(found[1].1, raw(account(2, 20)));
        seen.commit().await.expect("a transaction that only reads");
        assert_lost(end(withdrawing, &follows(sum)).await);
    } else {
        write(&store, &deposit).await.expect("the deposit commits");
    }
    let mut withdrawing = begin(&store).await;
    let sum = reads(&mut *withdrawing).await;
    let ended = end(withdrawing, &follows(sum)).await;
    ended.expect("the transaction commits");
    assert_stored(&store, [account(1, -10), account(2, 20)]).await;
}
