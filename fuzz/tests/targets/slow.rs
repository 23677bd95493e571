//! The slowest cases that a search finds take no more steps than their bounds.

use fuzz::{Choices, slowest};
use odm::{
    bson::{Bson, DateTime, Document, RawDocumentBuf, doc},
    derive::steps_of_thread,
    mql::{Expr, Filter, Pattern, Sort, Test, Update},
};

/// The steps of a call, as a part of the bound.
fn part(bound: usize, call: impl FnOnce()) -> f64 {
    steps_of_thread();
    call();
    steps_of_thread() as f64 / bound as f64
}

/// A bound for work that is done for each part of a document and each part of a request.
fn product(request: &Document, document: &RawDocumentBuf) -> usize {
    let request = RawDocumentBuf::try_from(request).expect("it is BSON");
    64 + request.as_bytes().len() * document.as_bytes().len()
}

fn raw(document: &Document) -> RawDocumentBuf {
    RawDocumentBuf::try_from(document).expect("it is BSON")
}

#[test]
fn no_match_of_a_regular_expression_takes_more_than_two_million_steps() {
    slowest(200, part_of_match);
}

#[test]
fn a_repetition_that_ends_at_once_takes_a_step_of_the_bound() {
    // If such a repetition took no step, this case would take 1.16 of the bound.
    let case = [
        58, 9, 105, 51, 183, 127, 241, 181, 101, 25, 172, 5, 175, 107, 152, 23, 222, 168, 11, 51,
        179, 124, 102, 75, 87, 4, 100, 104, 102, 75, 87, 4, 87, 4, 100, 104, 14, 116, 104, 140,
        129, 5, 84, 113, 36, 116, 104, 60, 254, 207, 41, 81, 231, 81, 231, 160, 107, 134, 216, 217,
        252, 100, 0, 252, 100, 0, 91, 217, 64, 54, 134, 216,
    ];
    let part = part_of_match(&case);
    assert!(part > 0.9 && part <= 1.0, "{part}");
}

/// The steps of a match, as a part of two million.
fn part_of_match(bytes: &[u8]) -> f64 {
    let (expression, text) = Choices::new(bytes).expression_and_text();
    let Ok(pattern) = Pattern::new(&expression, "") else {
        return 0.0;
    };
    let filter = Filter::Path("a".into(), Test::Regex(pattern));
    let document = raw(&doc! { "_id": 1, "a": text });
    part(2_000_100, || drop(filter.matches(&document)))
}

#[test]
fn a_filter_takes_a_step_for_each_part_of_it_and_of_the_document_at_most() {
    slowest(250, |bytes| {
        let mut choices = Choices::new(bytes);
        let document =
            raw(&doc! { "_id": 1, "a": choices.deep_value(), "b": choices.deep_value() });
        let path = choices.long_path();
        let mut request = choices.filter(2);
        request.insert(path, choices.value(1));
        match Filter::parse(&request) {
            Ok(filter) => part(product(&request, &document), || {
                drop(filter.matches(&document))
            }),
            Err(_) => 0.0,
        }
    });
}

#[test]
fn a_sort_takes_a_step_for_each_part_of_it_and_of_the_document_at_most() {
    slowest(250, |bytes| {
        let mut choices = Choices::new(bytes);
        let document = raw(&doc! { "_id": 1, "a": choices.deep_value() });
        let request = doc! { choices.long_path(): 1, "b": -1 };
        match Sort::parse(&request) {
            Ok(sort) => part(product(&request, &document), || {
                drop(sort.encode_key(&document))
            }),
            Err(_) => 0.0,
        }
    });
}

#[test]
fn an_expression_takes_a_step_for_each_part_of_it_and_of_the_document_at_most() {
    slowest(250, |bytes| {
        let mut choices = Choices::new(bytes);
        let document = raw(&doc! { "_id": 1, "a": choices.deep_value() });
        let path = format!("${}", choices.long_path());
        let request = doc! { "": [path, choices.expression(3)] };
        match request.get("").map(Expr::parse) {
            Some(Ok(expression)) => part(product(&request, &document), || {
                drop(expression.evaluate(&document))
            }),
            _ => 0.0,
        }
    });
}

#[test]
fn an_update_takes_a_step_for_each_part_of_it_and_of_the_document_at_most() {
    slowest(250, |bytes| {
        let mut choices = Choices::new(bytes);
        let document = raw(&doc! { "_id": 1, "a": choices.deep_value() });
        let (mut update, filters) = choices.update();
        let path = choices.long_path().replace(".1", ".$[]");
        let pulled = doc! { path: Bson::Document(choices.tests(1)) };
        update.insert("$pull", pulled);
        let now = DateTime::from_millis(0);
        match Update::parse(&update, &filters) {
            Ok(parsed) => {
                let whole = doc! { "u": update, "f": filters };
                part(product(&whole, &document), || {
                    drop(parsed.apply(&document, false, now))
                })
            }
            Err(_) => 0.0,
        }
    });
}
