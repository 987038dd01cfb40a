"""The tests that `make test` leaves out, because it has to end within eight minutes on two cores:
more cases of what other tests prove too. `make check` runs them."""

from typing import Final

THOROUGH: Final = (
    "client/test_lists.py::test_ten_thousand_products_are_iterated_by_cursor",
    "client/test_wrong_input.py::test_another_server_is_named",
    "customers/test_erasure.py::"
    "test_an_erasure_that_crashes_anywhere_has_the_same_result[TransactWriteItems",
    "customers/test_erasure.py::"
    "test_an_erasure_that_crashes_anywhere_has_the_same_result[UpdateItem",
    "deploy/test_chalice_deploy.py",
    "deploy/test_readme.py",
    "e2e/console/",
    "e2e/console/test_access.py::test_no_page_has_a_serious_finding[dark]",
    "e2e/console/test_sign_in.py::test_a_cold_list_takes_less_than_3_seconds_of_a_slow_line",
    "e2e/test_backup.py",
    "e2e/test_client.py::test_a_file_of_ten_megabytes_is_uploaded",
    "e2e/test_description.py",
    "e2e/test_emulator.py",
    "e2e/test_import.py::test_killed_workers_lose_no_row_and_count_none_twice",
    "e2e/test_local.py",
    "e2e/test_operator.py",
    "e2e/test_roles.py",
    "e2e/test_spec/test_6_retries.py::test_any_other_outcome_is_retried[/hang]",
    "e2e/test_verification.py",
    "imports/test_formats.py::test_a_file_is_read_equally_in_every_encoding_and_delimiter",
    "imports/test_recognition.py::"
    "test_two_columns_of_a_format_are_read_as_ours_only_if_they_mean_the_same[woocommerce]",
    "listing/test_many_words.py::test_a_crash_leaves_the_words_of_one_version[Fault.CRASH]",
    "orders/test_machine.py",
    "products/test_bulk_repeats.py::test_the_largest_bulks_fit_the_throughput_of_a_new_table",
    "request/test_any_parameter.py::test_any_value",
    "runtime/test_runtime.py::test_malformed_delivery_messages_are_returned_to_the_queue",
    "stock/test_walk.py::test_the_ledger_adds_up_after_a_random_walk[20]",
    "storage/test_contention.py::test_a_parallel_import_tries_a_commit_about_twice",
)
# Of these folders, what `make test` runs.
QUICK: Final = (
    "e2e/console/test_access.py",
    "e2e/console/test_figures.py",
    "e2e/console/test_orders.py",
    "e2e/console/test_payments.py",
    "e2e/console/test_sign_in.py",
)


def is_thorough(test: str) -> bool:
    """The longest beginning of its name decides."""
    found = (begin for begin in (*THOROUGH, *QUICK) if test.startswith(begin))
    return max(found, key=len, default="") in THOROUGH
