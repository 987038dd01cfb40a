"""A reindexing in tests, without a queue and without waiting."""

import json
from typing import Any
from unittest import mock

from chalicelib import listing
from chalicelib.jobs.model import Job, RecordOutcome
from chalicelib.reindexing import store, work


def reindex(*records: listing.Records, rate: float = 1e9) -> int:
    """Of these records, or of all; returns how many were moved."""
    every = records or store.ALL
    asked = {"kinds": [each.kind.name for each in every], "rate": rate, "settle": 0}
    fields: dict[str, Any] = {"asked": json.dumps(asked), "processed": 0, "updated": 0}
    with mock.patch.object(store, "ALL", every):
        while True:
            step = work.step(Job(fields))
            fields |= {"cursor": json.dumps(step.cursor), **step.set}
            fields["processed"] += sum(step.counts.values())
            fields["updated"] += step.counts[RecordOutcome.UPDATED]
            assert fields["processed"] <= fields["total"]
            if step.cursor is None:
                return int(fields["updated"])
