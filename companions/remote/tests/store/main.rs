//! One suite over all stores, and what each kind of store must bear on its own.

mod bodies;
mod embedded;
mod model;
mod races;
#[cfg(feature = "redis")]
mod redis;
mod room;
#[cfg(feature = "redis")]
mod server;

use std::sync::Arc;

use contract_remote::store::Store;

/// A store, and what must live as long as it.
struct Place<G> {
    store: Arc<dyn Store>,
    _guard: G,
}

/// The tests that every store passes; `$place` makes one with limits.
macro_rules! conformance {
    ($place:path) => {
        crate::conformance! { $place,
            bodies: versions_count_the_writes_of_a_name,
            bodies: a_write_is_built_on_what_it_expects,
            bodies: a_text_comes_back_as_it_was,
            bodies: a_name_that_means_something_in_a_key_is_refused,
            bodies: a_list_is_sorted_and_whole,
            bodies: a_list_holds_large_values,
            bodies: what_is_removed_is_gone_and_begins_anew,
            bodies: a_log_counts_from_one,
            bodies: a_repeated_id_is_not_logged_twice,
            bodies: a_tail_of_large_entries_comes_in_pieces,
            bodies: a_task_knows_nothing_of_another,
            bodies: a_forgotten_task_begins_anew,
            bodies: tasks_are_listed_while_they_are_kept,
            bodies: a_future_that_is_dropped_leaves_the_store_usable,
            room: a_value_has_a_largest_size,
            room: names_are_counted,
            room: logs_are_counted,
            room: a_log_is_cut_by_entries,
            room: a_log_is_cut_by_bytes,
            room: a_task_is_over_as_a_whole,
            room: a_write_renews_the_whole_task,
            races: of_a_hundred_first_writes_one_is_made,
            races: sixty_four_writers_lose_no_step,
            races: sixty_four_writers_leave_no_gap_in_a_log,
            model: it_does_what_a_map_and_a_list_would,
        }
    };
    ($place:path, $($module:ident: $test:ident,)*) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $test() {
            let place = $place(crate::$module::limits(stringify!($test)));
            crate::$module::$test(place.store.clone()).await;
        }
    )*};
}
pub(crate) use conformance;
