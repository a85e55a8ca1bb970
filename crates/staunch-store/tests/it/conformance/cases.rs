//! The list of the cases, and a test of each on each backend. A case that is missing here is dead
//! code, which the compiler reports.

use crate::harness::Shard;

macro_rules! cases {
    ($($area:ident { $($case:ident,)* })*) => {
        mod memory {
            $(mod $area {
                use super::super::Shard;
                $(#[tokio::test]
                async fn $case() {
                    let shard = Shard::memory().await;
                    Box::pin(crate::conformance::$area::$case(&shard)).await;
                    shard.finish().await;
                })*
            })*
        }

        mod postgres {
            $(mod $area {
                use super::super::Shard;
                $(#[tokio::test]
                async fn $case() {
                    let shard = Shard::postgres().await;
                    Box::pin(crate::conformance::$area::$case(&shard)).await;
                    shard.finish().await;
                })*
            })*
        }
    };
}

cases! {
    enqueue {
        a_stored_run_comes_out_as_it_went_in,
        a_slice_is_stored_whole,
        an_empty_slice_stores_nothing,
        a_second_try_stores_only_what_is_missing,
        a_second_try_does_not_revive_a_run_that_was_claimed,
        a_first_try_of_a_known_run_fails_the_whole_slice,
        a_delayed_run_waits_for_its_time,
        a_slice_may_hold_prompt_and_delayed_runs,
        a_second_try_of_a_promoted_run_adds_no_timer,
        the_longest_and_strangest_values_are_stored,
        new_runs_do_not_enter_the_lane_of_resumed_ones,
        the_runs_of_a_slice_leave_in_the_order_asked,
        a_run_twice_in_a_second_try_is_stored_once,
    }
    keyed {
        a_free_workflow_id_creates_the_run,
        a_taken_workflow_id_answers_the_run_that_has_it,
        a_repeated_start_is_created_and_stored_once,
        one_of_the_same_ids_in_a_slice_is_created,
        the_same_run_twice_in_a_slice_is_created_once,
        answers_come_in_the_order_asked,
        another_name_under_a_taken_id_is_reported,
        an_id_is_taken_only_within_its_shard_key,
        a_keyed_run_can_be_delayed,
        two_starts_of_one_id_at_once_create_one_run,
    }
    dequeue {
        a_visit_that_finds_nothing_makes_no_claim,
        a_claimed_run_is_gone_from_ready,
        runs_leave_by_group_and_then_in_order_of_entry,
        groups_are_looked_at_in_the_order_asked,
        the_limit_counts_over_all_groups,
        groups_that_were_not_asked_for_are_left,
        a_busy_lock_is_told_apart_from_an_empty_shard,
        a_worker_without_a_live_lease_gets_nothing,
        an_entry_of_an_ended_run_vanishes_at_the_claim,
        a_visit_that_met_only_dead_entries_makes_no_claim,
        an_entry_of_an_earlier_epoch_vanishes_at_the_claim,
        workers_at_once_never_get_the_same_run,
        a_claim_id_cannot_be_used_twice,
        a_usual_claim_after_a_mark_finds_what_came_later,
        a_marked_claim_that_was_not_full_hides_nothing,
        a_late_commit_is_found_by_looking_earlier,
        a_usual_claim_does_not_look_at_what_lies_before_the_mark,
        a_claim_holds_no_more_than_a_few_megabytes,
        what_a_claim_had_no_room_for_is_anybodys,
        the_groups_that_hold_rows_are_named,
        groups_are_found_between_and_behind_those_with_a_mark,
        a_group_with_a_late_commit_is_seen_by_looking_earlier,
    }
    steps {
        steps_come_back_by_run_and_number,
        the_first_record_of_a_step_wins,
        a_former_owner_is_told_of_the_record_and_of_its_loss,
        a_late_record_of_a_former_owner_is_adopted,
        the_owner_of_an_ended_run_owns_nothing,
        a_repeated_record_counts_as_written,
        a_step_without_a_result_fails_the_whole_batch,
        a_collision_of_steps_spares_the_rest_of_the_batch,
        many_steps_and_ends_fit_one_write,
        a_page_of_steps_holds_no_more_than_a_few_megabytes,
        a_page_of_steps_ends_after_ten_thousand,
        writers_that_meet_wait_and_do_not_block_each_other,
    }
    write {
        an_empty_batch_is_answered,
        an_end_is_kept_with_its_output,
        a_failure_is_kept_with_its_error,
        a_repeated_end_is_applied_and_another_is_lost,
        a_former_owner_cannot_end_a_run,
        a_cancelled_run_cannot_be_ended,
        a_run_that_never_was_cannot_be_ended,
        outcomes_come_in_the_order_of_the_batch,
        a_parked_run_waits_and_is_nobodys,
        only_the_owner_of_an_open_run_parks_it,
        a_repeated_park_is_applied_once,
        a_woken_run_can_park_again,
        a_run_can_park_where_an_earlier_epoch_had_parked,
        a_finished_claim_is_deleted_from_its_worker_only,
        the_writes_of_a_lapsed_worker_count_while_it_owns_the_run,
    }
    starts {
        a_direct_start_is_stored_and_held_at_once,
        a_direct_start_without_a_lease_stores_nothing_of_it,
        a_repeated_direct_start_is_claimed_once,
        a_second_try_of_a_start_that_never_arrived_stores_it,
        a_start_goes_with_other_work_in_one_write,
        a_direct_start_of_a_dead_worker_is_recovered,
    }
    hand_back {
        a_run_is_put_back_once_and_uncharged,
        a_run_named_twice_is_put_back_once,
        groups_are_named_once,
        runs_that_ended_or_moved_on_are_not_put_back,
        two_givers_at_once_put_a_run_back_once,
        whole_claims_are_put_back_and_deleted,
        a_parked_run_of_a_claim_goes_on_waiting,
        claims_of_others_and_of_nobody_are_left,
        a_suspect_goes_back_to_the_lane_of_suspects,
        an_acquitted_run_is_like_any_other,
    }
    lease {
        a_registered_worker_is_shown,
        renewal_keeps_a_lease_alive,
        a_lapsed_lease_stays_lapsed,
        a_session_that_was_given_up_is_not_renewed,
        renewal_tells_the_claims_with_their_age,
        renewal_tells_which_runs_are_lost,
        renewal_counts_the_live_sessions,
        a_new_session_gets_the_old_ones_work_back_uncharged,
        an_ended_session_is_uncharged_when_its_process_comes_back,
        a_session_that_is_gone_can_be_named_as_the_former_one,
        a_session_that_retires_is_over_at_once,
        a_session_with_claims_retires_through_the_reaper,
    }
    reclaim {
        a_shard_without_dead_workers_is_left_alone,
        a_dead_workers_runs_are_charged_and_put_back,
        a_dead_worker_cannot_end_its_runs_later,
        runs_that_ended_are_dropped_with_their_claim,
        a_run_that_a_dead_worker_had_parked_goes_on_waiting,
        a_step_since_the_claim_spares_the_charge,
        a_step_of_an_earlier_owner_spares_nothing,
        nobody_is_charged_when_most_leases_end_together,
        sessions_that_end_in_good_order_are_no_deaths,
        half_of_the_leases_are_not_most,
        an_only_worker_is_charged,
        a_run_that_killed_two_workers_is_a_suspect,
        the_third_death_alone_is_the_end,
        a_run_that_never_was_alone_dies_at_twice_as_many,
        deaths_that_are_not_charged_convict_nobody,
        the_number_of_deaths_is_the_callers,
        the_oldest_claims_go_first_within_the_budget,
        claims_of_a_missing_worker_go_back_uncharged,
        a_fleet_that_was_killed_and_started_again_at_once_is_not_charged,
        leases_that_end_within_half_a_lease_of_each_other_end_together,
        one_process_at_a_time_reaps,
        workers_with_longer_leases_live_beside_shorter_ones,
        reapers_at_once_put_a_run_back_once,
    }
    maintenance {
        a_delayed_run_is_promoted_when_due_and_never_earlier,
        what_is_due_first_is_promoted_first,
        a_timer_of_a_run_that_moved_on_is_forgotten,
        a_topic_wakes_its_runs_and_no_others,
        a_topic_wakes_no_more_than_the_limit,
        cancelled_runs_are_not_woken_or_promoted,
        an_orphan_is_found_and_put_back,
        an_audit_begins_behind_the_run_that_is_named,
        only_the_repair_of_orphans_needs_the_turn,
        young_orphans_are_not_yet_looked_at,
        runs_that_somebody_will_run_are_no_orphans,
        a_row_of_an_earlier_epoch_does_not_hide_an_orphan,
        upkeep_can_be_repeated,
        one_process_at_a_time_maintains,
    }
    manage {
        results_come_in_the_order_asked,
        cancel_answers_for_each_run_in_the_order_asked,
        a_cancelled_run_has_ended_for_everybody,
        a_scheduled_run_can_be_cancelled,
        cancel_and_end_at_once_leave_one_end,
        a_run_that_is_cancelled_twice_in_a_slice_ends_once,
        results_of_any_size_come_whole,
    }
    inspect {
        a_run_that_never_was_is_not_shown,
        states_follow_a_run_through_its_life,
        a_run_is_shown_with_everything,
        runs_are_listed_newest_first_page_by_page,
        lists_can_be_filtered,
        recorded_steps_are_listed_by_number,
        what_there_is_is_counted,
    }
    settings {
        a_shard_holds_no_settings_at_first,
        a_setting_changes_only_for_who_has_seen_its_version,
        of_two_changes_at_once_one_wins,
        a_value_that_is_not_allowed_is_refused_by_name,
        a_worker_is_told_the_dequeue_locks,
        a_worker_is_told_how_many_entries_there_were,
    }
    wake {
        every_listener_hears_what_is_told,
        telling_nobody_is_fine,
    }
    shape {
        the_shape_is_read_whatever_was_expected,
        each_part_of_the_shape_is_compared,
        a_handle_of_another_shape_changes_nothing,
        a_live_handle_changes_nothing_after_the_shape_changed,
    }
}
