//! The conformance suite of the contract of stores: a function for each promise of [`Store`](odm_store::Store), which any new and
//! empty store must keep, and [`MapStore`], a small store to begin from.
//!
//! The author of a store writes a function that runs a test on a store of that kind, and lets [`store_suite!`] make a `#[test]`
//! for each promise:
//!
//! ```
//! use odm_store_suite::MapStore;
//!
//! fn on_my_store<F: Future>(test: impl FnOnce(MapStore) -> F) {
//!     let runtime = tokio::runtime::Runtime::new().unwrap();
//!     runtime.block_on(async { test(MapStore::new()).await });
//! }
//!
//! mod my_store {
//!     odm_store_suite::store_suite!(crate::on_my_store);
//! }
//! ```
//!
//! Promises that only some stores make are tested if the [capabilities](odm_store::Capabilities) say so, and the list of collections if
//! the store does not refuse it.

#![deny(missing_docs)]
#![warn(missing_debug_implementations)]

#[expect(missing_docs, reason = "the names of promises are sentences")]
pub mod aggregates;
#[expect(missing_docs, reason = "the names of promises are sentences")]
pub mod batches;
#[expect(missing_docs, reason = "the names of promises are sentences")]
pub mod closing;
#[expect(missing_docs, reason = "the names of promises are sentences")]
pub mod collections;
#[expect(missing_docs, reason = "the names of promises are sentences")]
pub mod finds;
#[expect(missing_docs, reason = "the names of promises are sentences")]
pub mod gets;
#[expect(missing_docs, reason = "the names of promises are sentences")]
pub mod keys;
#[expect(missing_docs, reason = "the names of promises are sentences")]
pub mod limits;
mod map_store;
#[expect(missing_docs, reason = "the names of promises are sentences")]
pub mod schemas;
#[expect(missing_docs, reason = "the names of promises are sentences")]
pub mod serializable;
#[expect(missing_docs, reason = "the names of promises are sentences")]
pub mod single_writes;
#[expect(missing_docs, reason = "the names of promises are sentences")]
pub mod snapshots;
mod support;
#[expect(missing_docs, reason = "the names of promises are sentences")]
pub mod transactions;
#[expect(missing_docs, reason = "the names of promises are sentences")]
pub mod unique_indexes;
#[expect(missing_docs, reason = "the names of promises are sentences")]
pub mod units;
#[expect(missing_docs, reason = "the names of promises are sentences")]
pub mod unread;
#[expect(missing_docs, reason = "the names of promises are sentences")]
pub mod updates;
#[expect(missing_docs, reason = "the names of promises are sentences")]
pub mod watches;

use std::{future::Future, pin::Pin, task::Poll};

pub use map_store::MapStore;

/// Makes a `#[test]` for each promise of the contract. The argument is the absolute path of a function that calls a test with a new store.
/// Attributes before it apply to the tests.
#[macro_export]
macro_rules! store_suite {
    ($(#[$attribute:meta])* $run:path) => {
        $crate::store_suite! { [$(#[$attribute])*] $run;
            snapshots {
                a_reader_sees_what_was_committed_before_it_and_nothing_later
                a_reader_sees_nothing_of_a_transaction_before_its_commit
                a_collection_that_does_not_exist_is_empty
                collections_do_not_share_documents
            }
            gets {
                get_passes_the_documents_that_exist_with_the_positions_of_their_ids
                get_passes_a_document_once_for_each_time_that_its_id_occurs
                get_takes_equal_numbers_of_different_types_for_one_id
                ids_of_different_types_are_different
                a_get_ends_when_its_callback_breaks_or_fails
            }
            finds {
                a_query_returns_the_documents_that_its_filter_matches_in_the_total_order_of_its_sort
                a_filter_and_an_order_can_have_a_collation
                a_filter_and_an_order_can_ignore_case
                a_query_skips_and_limits
                a_query_returns_the_fields_of_its_projection
                a_position_in_a_projection_is_the_element_by_which_the_filter_matches
                null_on_a_dotted_path_does_not_match_an_array_without_documents
                a_filter_that_fails_on_a_document_is_an_error_of_the_query
                pages_after_a_position_have_every_document_once_in_both_directions
                a_position_need_not_be_that_of_a_document
                a_position_with_another_number_of_values_than_the_order_is_refused
                a_count_is_the_number_of_documents_that_the_query_returns
                a_query_ends_when_its_callback_breaks_or_fails
                explain_runs_the_query
            }
            keys {
                each_key_has_the_documents_that_equal_it_or_hold_it_in_an_array
                a_key_that_occurs_twice_has_its_documents_twice
                filter_sort_skip_and_limit_count_for_each_key
                keys_that_look_like_expressions_are_values
                documents_of_a_key_have_the_fields_of_the_projection
                a_query_by_keys_after_a_position_is_refused
                a_query_by_keys_ends_when_its_callback_breaks_or_fails
            }
            aggregates {
                groups_are_those_of_the_documents_that_the_query_finds
                rows_are_filtered_sorted_skipped_and_limited
                groups_of_nothing_have_a_row_only_without_keys
                groups_see_the_transaction_they_are_in
                a_key_that_is_no_date_is_an_error_that_names_the_document
                an_aggregate_ends_when_its_callback_breaks_or_fails
            }
            batches {
                a_batch_inserts_replaces_and_removes
                a_document_is_stored_byte_for_byte
                a_document_with_values_of_deprecated_types_is_stored_byte_for_byte
                a_transaction_reads_what_its_batches_wrote
                an_empty_batch_changes_nothing
                an_insert_of_a_taken_id_is_refused
                a_batch_that_changes_a_document_that_is_not_there_is_refused
                a_replacement_with_another_id_is_refused
                nothing_of_a_failed_batch_is_stored_in_any_collection
                a_batch_to_a_collection_without_a_valid_name_is_refused
            }
            unread {
                an_update_of_an_unread_document_is_applied_with_the_batch_if_it_matches
                an_update_of_unread_documents_changes_all_that_match
                an_update_of_an_unread_document_needs_no_batch
                nothing_of_a_failed_batch_with_updates_of_unread_documents_is_stored
                of_two_transactions_that_update_one_unread_document_the_second_fails_retryably
            }
            unique_indexes {
                a_taken_key_is_refused_with_its_index_and_value
                null_and_missing_are_one_key_unless_only_present_ones_count
                an_index_that_ignores_case_takes_words_in_all_cases
                an_index_with_a_collation_takes_equal_texts_once
                a_partial_index_is_unique_among_the_documents_that_match
                a_partial_index_over_equal_keys_is_refused_only_if_they_match
                a_compound_key_is_taken_as_a_whole
                a_compound_key_of_present_ones_needs_all_its_fields
                each_element_of_an_array_is_a_key
                two_arrays_side_by_side_in_an_index_are_refused
                a_key_that_is_given_up_is_free
                an_update_to_a_taken_key_changes_nothing
            }
            updates {
                an_update_changes_the_documents_that_match
                an_update_that_leaves_a_document_as_it_was_counts_it_as_matched_alone
                an_update_sees_no_document_twice
                all_current_dates_of_an_update_are_the_same
                an_update_that_cannot_be_applied_to_a_document_changes_none
                a_replacement_keeps_the_id
                an_upsert_inserts_where_nothing_matches
                an_upsert_without_an_id_gives_the_document_a_new_one_as_its_first_field
                an_upsert_to_a_taken_id_is_refused
                a_removal_removes_the_documents_that_match
                an_update_and_a_removal_see_the_transaction_they_are_in
            }
            single_writes {
                a_single_update_changes_the_document_as_a_transaction_would
                a_document_is_inserted_replaced_and_removed_by_single_writes
                a_single_write_in_another_epoch_is_refused
                a_single_write_of_any_epoch_is_run
                a_single_write_that_is_not_possible_changes_nothing
            }
            transactions {
                a_rollback_undoes_the_writes
                a_dropped_transaction_is_rolled_back
                a_transaction_that_only_reads_sees_one_state_and_never_fails
                others_write_beside_a_transaction_or_wait_for_its_end
                a_transaction_without_writes_commits
                an_eventual_commit_is_visible_at_once
                no_update_is_lost_between_transactions
                of_two_transactions_that_change_one_document_the_second_fails_retryably
                of_two_transactions_that_add_one_key_the_second_fails_retryably
                transactions_that_change_different_documents_both_commit
            }
            serializable {
                of_two_transactions_that_each_read_what_the_other_writes_one_is_later
                no_update_is_lost_to_one_that_began_before_it
                a_read_document_that_is_removed_meanwhile_is_a_conflict
                a_document_that_was_missing_and_is_inserted_meanwhile_is_a_conflict
                a_phantom_of_a_filter_is_a_conflict
                a_phantom_of_a_key_of_an_index_is_a_conflict
                a_phantom_of_a_count_and_of_a_group_is_a_conflict
                a_phantom_of_an_update_and_of_a_removal_is_a_conflict
                a_document_that_leaves_an_answer_or_changes_in_it_is_a_conflict
                a_unique_key_that_is_taken_meanwhile_is_a_conflict
                a_reader_sees_no_state_that_contradicts_a_later_commit
            }
            watches {
                commits_in_all_collections_are_shown_whole_and_again_from_a_time
                of_all_collections_no_commit_is_lost_that_began_before_the_watch
                a_commit_after_a_watch_has_begun_is_shown_if_it_began_before
                of_transactions_in_flight_each_is_shown_once_and_in_order
                a_unit_in_flight_is_run_again_or_comes_before_the_watch
                changes_are_shown_in_the_order_of_commits_that_race
            }
            units {
                a_unit_is_committed_when_run_returns
                a_unit_that_returns_an_error_is_rolled_back
                units_that_conflict_all_run
                a_dropped_future_of_a_unit_leaves_all_of_it_or_nothing
                a_dropped_begin_holds_nothing
            }
            collections {
                a_collection_takes_the_place_of_another_with_the_indexes_of_it
                nothing_of_a_failed_change_of_collections_is_made
                a_collection_keeps_its_default_collation
            }
            limits {
                a_document_of_16_mib_is_stored_and_a_larger_one_is_refused
                a_document_of_180_levels_is_stored_and_a_deeper_one_is_refused
                a_document_without_a_valid_id_is_refused
                a_malformed_document_is_refused
            }
            schemas {
                ensure_leaves_what_exists
                collections_are_listed_with_their_indexes
                a_store_that_measures_collections_tells_what_they_take
                a_store_that_counts_the_uses_of_indexes_counts_those_that_find
                an_index_with_other_keys_or_options_under_one_name_is_refused
                a_new_index_has_the_documents_that_exist
                a_unique_index_over_equal_keys_is_refused
                an_obsolete_index_is_removed
                an_index_that_is_not_exactly_the_obsolete_one_is_left
                a_new_index_takes_the_place_of_an_obsolete_one_of_its_name
                an_index_that_cannot_be_created_leaves_the_obsolete_ones_in_force
                a_transaction_that_began_before_an_index_does_not_break_it
                names_that_are_empty_or_have_a_nul_are_refused
            }
            closing {
                a_closed_store_refuses_every_call
                closing_a_closed_store_does_nothing
                several_calls_close_a_store
            }
        }
    };
    ($attributes:tt $run:path; $($topic:ident { $($promise:ident)+ })+) => {
        $(mod $topic {
            $($crate::store_suite! { @promise $attributes $run; $topic $promise })+
        })+

        #[test]
        fn every_promise_is_tested() {
            $crate::assert_complete(&[$((stringify!($topic), &[$(stringify!($promise)),+])),+]);
        }
    };
    (@promise [$(#[$attribute:meta])*] $run:path; $topic:ident $promise:ident) => {
        #[test]
        $(#[$attribute])*
        fn $promise() {
            $run($crate::$topic::$promise);
        }
    };
}

/// The sources of the promises by topic.
const SOURCES: &[(&str, &str)] = &[
    ("snapshots", include_str!("snapshots.rs")),
    ("gets", include_str!("gets.rs")),
    ("finds", include_str!("finds.rs")),
    ("keys", include_str!("keys.rs")),
    ("aggregates", include_str!("aggregates.rs")),
    ("batches", include_str!("batches.rs")),
    ("unread", include_str!("unread.rs")),
    ("unique_indexes", include_str!("unique_indexes.rs")),
    ("updates", include_str!("updates.rs")),
    ("single_writes", include_str!("single_writes.rs")),
    ("transactions", include_str!("transactions.rs")),
    ("serializable", include_str!("serializable.rs")),
    ("watches", include_str!("watches.rs")),
    ("units", include_str!("units.rs")),
    ("collections", include_str!("collections.rs")),
    ("limits", include_str!("limits.rs")),
    ("schemas", include_str!("schemas.rs")),
    ("closing", include_str!("closing.rs")),
];

/// Asserts that a list of promises, by topic, has all of them.
pub fn assert_complete(listed: &[(&str, &[&str])]) {
    let written = SOURCES.iter().map(|(topic, source)| {
        let functions = source.lines().filter_map(|line| {
            let name = line.strip_prefix("pub async fn ")?;
            name.split('(').next()
        });
        (*topic, functions.collect::<Vec<_>>())
    });
    let listed = listed.iter().map(|(topic, names)| (*topic, names.to_vec()));
    assert_eq!(
        listed.collect::<Vec<_>>(),
        written.collect::<Vec<_>>(),
        "`store_suite!` lists other promises than there are"
    );
}

/// Polls a future once.
#[doc(hidden)]
pub async fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    std::future::poll_fn(|cx| Poll::Ready(Pin::new(&mut *future).poll(cx))).await
}
