"""The tests that `make test` leaves out, because it has to end within eight minutes on two cores:
more cases of what other tests prove too. `make check` runs them."""

from typing import Final

THOROUGH: Final = (
    "deploy/test_chalice_deploy.py",
    "deploy/test_main_job_aws.py",
    "deploy/test_readme.py",
    "e2e/console/test_catalogue.py",
    "e2e/console/test_day.py",
    "e2e/console/test_details.py",
    "e2e/console/test_developer.py",
    "e2e/console/test_editing.py",
    "e2e/console/test_import.py",
    "e2e/console/test_lists.py",
    "e2e/console/test_page_lifetime.py",
    "e2e/console/test_readers.py",
    "e2e/console/test_scanner.py",
    "e2e/console/test_search.py",
    "e2e/console/test_states.py",
    "e2e/console/test_tabs.py",
    "e2e/test_accepted_input.py",
    "e2e/test_backup.py",
    "e2e/test_buyers.py",
    "e2e/test_description.py",
    "e2e/test_emulator.py",
    "e2e/test_import.py::test_killed_workers_lose_no_row_and_count_none_twice",
    "e2e/test_local.py",
    "e2e/test_operator.py",
    "e2e/test_roles.py",
    "e2e/test_spec/test_6_retries.py::test_a_delivery_is_retried_after[1_minute]",
    "e2e/test_spec/test_6_retries.py::test_any_other_outcome_is_retried[/hang]",
    "e2e/test_spec/test_6_retries.py::test_the_endpoint_gets_a_summary_email",
    "e2e/test_spec/test_6_retries.py::test_the_view_shows_the_timing",
    "e2e/test_verification.py",
    "imports/test_recognition.py::"
    "test_two_columns_of_a_format_are_read_as_ours_only_if_they_mean_the_same[woocommerce]",
    "listing/test_many_words.py::test_a_crash_leaves_the_words_of_one_version[Fault.CRASH]",
    "orders/test_machine.py",
    "stock/test_walk.py::test_the_ledger_adds_up_after_a_random_walk[20]",
    "runtime/test_runtime.py::test_malformed_delivery_messages_are_returned_to_the_queue",
)
