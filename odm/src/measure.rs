//! The cost of operations.

use std::{
    future::Future,
    sync::{Arc, Mutex, PoisonError},
};

use crate::store::Cost;

tokio::task_local! {
    static MEASURED: Arc<Mutex<Cost>>;
}

/// Runs a future, and returns its output and what the operations in it cost: the requests to the store,
/// the index entries and documents that were read, the documents that were returned and written.
///
/// Operations of tasks that the future spawns are not counted.
///
/// ```
/// # use odm::{Embedded, prelude::*}; use serde::{Deserialize, Serialize};
/// # #[derive(Serialize, Deserialize, Document)] #[document(collection = "parts")]
/// # struct Part { #[serde(rename = "_id")] id: i64, name: String }
/// # #[derive(Database)] #[database(name = "shop", version = 1)]
/// # struct Shop { parts: Repository<Part> }
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// # let shop = Shop::open(Embedded::memory().await?).await?;
/// let (_, cost) = odm::measure(async { shop.parts.all().await }).await;
/// assert_eq!(cost.queries, 1);
/// # Ok::<_, odm::Error>(()) }).unwrap();
/// ```
pub async fn measure<F: Future>(future: F) -> (F::Output, Cost) {
    let measured = Arc::new(Mutex::new(Cost::default()));
    let output = MEASURED.scope(measured.clone(), future).await;
    let cost = *measured.lock().unwrap_or_else(PoisonError::into_inner);
    // A measurement around this one includes it.
    report(cost);
    (output, cost)
}

/// Adds a cost to what the current task measures.
pub(crate) fn report(cost: Cost) {
    let _ = MEASURED.try_with(|measured| {
        *measured.lock().unwrap_or_else(PoisonError::into_inner) += cost;
    });
}
