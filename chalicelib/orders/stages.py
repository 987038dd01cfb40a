"""The workshop's stages, and the work on an order's lines, as stored.

`settings` / `production`: `{version, stages: [{id, name}]}`; work begins in the first, and is done
in the last. `ord_…` / `work`: `{version, lines: {li_…: LineWork}}`; what the workshop says, and
nothing of the order.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NotRequired, TypedDict

from chalicelib.orders.schemas import ShownStage, WorkMove
from chalicelib.storage.attributes import Fields, Item, Key

SETTINGS: Final[Key] = ("settings", "production")
_DEFAULT: Final[tuple[ShownStage, ...]] = (
    {"id": "stg_todo", "name": "To do"},
    {"id": "stg_work", "name": "In work"},
    {"id": "stg_done", "name": "Done"},
)


class LineWork(TypedDict):
    """The work on a line as stored. `closedBy`: None while it is open.

    `line`: the line as it was when an edit removed it.
    """

    stage: str
    made: int
    assignee: str | None
    blocked: str | None
    priority: int
    note: str | None
    revision: int
    startedAt: str | None
    doneAt: str | None
    closedBy: str | None
    moves: list[WorkMove]
    line: NotRequired[Fields]


@dataclass(frozen=True)
class Stages:
    """The stages in their order, and the version of the settings; 0: the default."""

    version: int = 0
    all: tuple[ShownStage, ...] = _DEFAULT

    @classmethod
    def from_item(cls, item: Item | None) -> "Stages":
        """Return the stages of the settings' item, with its version; the default for None."""
        return cls(int(item["version"]), tuple(item["stages"])) if item else cls()

    @property
    def names(self) -> dict[str, str | None]:
        """The names of all stages, by id."""
        return {stage["id"]: stage["name"] for stage in self.all}

    @property
    def open(self) -> list[str]:
        """The ids of the stages in which work is open: all but the last, in order."""
        return [stage["id"] for stage in self.all[:-1]]

    @property
    def last(self) -> str:
        """The id of the stage in which work is done."""
        return self.all[-1]["id"]


@dataclass(frozen=True)
class OrderWork:
    """The work on the lines of an order, by line id, and its version; 0: there is no item."""

    version: int = 0
    lines: Mapping[str, LineWork] = field(default_factory=dict)
    stages: Stages = Stages()

    @classmethod
    def from_items(cls, order_id: str, items: Mapping[Key, Item]) -> "OrderWork":
        """Return the work of an order and its stages, from the items of `work_keys` that were read.

        Without an item of work it has no lines, and the version 0.
        """
        item = items.get(work_key(order_id)) or {"version": 0, "lines": {}}
        return cls(int(item["version"]), item["lines"], Stages.from_item(items.get(SETTINGS)))

    @property
    def etag(self) -> str:
        """Changes with the work, and with the stages that it is shown with; without quotes."""
        return f"{self.version}.{self.stages.version}"


def work_key(order_id: str) -> Key:
    """Return the key of the item with an order's work."""
    return order_id, "work"


def work_keys(order_id: str) -> list[Key]:
    """Return the keys of what `OrderWork.from_items` needs."""
    return [work_key(order_id), SETTINGS]
