//! The cost of operations.

use std::{
    fmt::Write,
    future::{Future, IntoFuture},
    sync::{Arc, Mutex, PoisonError},
};

use odm_store::Cost;

tokio::task_local! {
    static MEASUREMENT: Arc<Measurement>;
}

/// A running measurement of one future.
struct Measurement {
    state: Mutex<Measured>,
    /// Whether each operation is recorded, or only the sum of their costs.
    lists_operations: bool,
    /// The measurement around this one, which includes it.
    outer: Option<Arc<Measurement>>,
}

/// The cost of the operations of a future.
#[derive(Debug, Default)]
pub struct Measured {
    cost: Cost,
    operations: Vec<MeasuredOperation>,
}

#[derive(Debug)]
struct MeasuredOperation {
    name: &'static str,
    collection: String,
    queries: u64,
}

/// Runs a future, and returns its output and the cost of its operations: the requests to the store, the index entries and documents that
/// were read, the documents that were returned and written.
///
/// Operations of tasks that the future spawns are not counted.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let rows = shop.products.all().join(Product::fields().parts);
/// let (_, cost) = odm::measure(async { rows.await }).await;
/// assert_eq!(cost.queries, 2); // not one for each product
/// # Ok(()) });
/// ```
pub async fn measure<F: Future>(future: F) -> (F::Output, Cost) {
    let (output, measured) = run(future, false).await;
    (output, measured.cost)
}

/// Runs a future, and returns its output and the cost of each operation in it.
pub async fn measured<F: IntoFuture>(future: F) -> (F::Output, Measured) {
    run(future.into_future(), true).await
}

async fn run<F: Future>(future: F, lists_operations: bool) -> (F::Output, Measured) {
    let measurement = Arc::new(Measurement {
        state: Mutex::default(),
        lists_operations,
        outer: MEASUREMENT.try_with(Arc::clone).ok(),
    });
    let output = MEASUREMENT.scope(measurement.clone(), future).await;
    let mut state = measurement
        .state
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    (output, std::mem::take(&mut *state))
}

/// Adds the cost of an operation to the measurement of the current task.
pub(crate) fn report(name: &'static str, collection: &str, cost: Cost) {
    let _ = MEASUREMENT.try_with(|innermost| {
        let mut next = Some(innermost);
        while let Some(measurement) = next {
            let state = measurement.state.lock();
            let mut state = state.unwrap_or_else(PoisonError::into_inner);
            state.cost += cost;
            if measurement.lists_operations {
                state.operations.push(MeasuredOperation {
                    name,
                    collection: collection.to_owned(),
                    queries: cost.queries,
                });
            }
            next = measurement.outer.as_ref();
        }
    });
}

impl Measured {
    /// Returns the number of requests to the store.
    pub fn queries(&self) -> u64 {
        self.cost.queries
    }

    /// Returns the message of an assertion that failed.
    pub fn failed(&self, operator: &str, expected: u64) -> String {
        let mut message = format!(
            "assertion failed: `queries {operator} {expected}`, and there were {}",
            self.queries()
        );
        for operation in &self.operations {
            let MeasuredOperation {
                name,
                collection,
                queries,
            } = operation;
            let _ = write!(message, "\n  {name} in `{collection}`: {queries}");
        }
        message
    }
}

/// Runs a future, and asserts how many requests to the store the operations in it make. Returns the output of the future. It is for tests,
/// for instance of a page that must not read each of its rows by a query of its own.
///
/// The future is a builder, an `async` block or any other value that can be awaited, and the macro awaits it. `<=`, `<` and `==` compare
/// the number with the expected one. Operations of tasks that the future spawns are not counted.
///
/// ```
/// # use odm::{Embedded, assert_queries, prelude::*}; use serde::{Deserialize, Serialize};
/// # #[derive(Serialize, Deserialize, Document)] #[document(collection = "parts")]
/// # struct Part { #[serde(rename = "_id")] id: i64, name: String }
/// # #[derive(Database)] #[database(name = "shop", version = 1)]
/// # struct Shop { parts: Repository<Part> }
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// # let shop = Shop::open(Embedded::memory().await?).await?;
/// let parts = assert_queries!(== 1, shop.parts.all())?;
/// assert_queries!(<= 2, async {
///     shop.parts.find(Part::fields().name.eq("bolt")).await?;
///     shop.parts.all().count().await
/// })?;
/// # Ok::<_, odm::Error>(()) }).unwrap();
/// ```
///
/// # Panics
///
/// If the comparison fails. The message has the number, and each operation with its requests:
///
/// ```text
/// assertion failed: `queries <= 1`, and there were 2
///   find in `products`: 1
///   get in `parts`: 1
/// ```
#[macro_export]
macro_rules! assert_queries {
    (<= $expected:expr, $future:expr $(,)?) => {
        $crate::assert_queries!(@ <=, $expected, $future)
    };
    (< $expected:expr, $future:expr $(,)?) => {
        $crate::assert_queries!(@ <, $expected, $future)
    };
    (== $expected:expr, $future:expr $(,)?) => {
        $crate::assert_queries!(@ ==, $expected, $future)
    };
    (@ $operator:tt, $expected:expr, $future:expr) => {{
        let expected: u64 = $expected;
        let (output, measured) = $crate::measured($future).await;
        let is_as_expected = measured.queries() $operator expected;
        if !is_as_expected {
            panic!("{}", measured.failed(stringify!($operator), expected));
        }
        output
    }};
}
