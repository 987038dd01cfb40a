"""Senders that crash at each call: see `tests/support/kill.py`."""

from tests.support.kill import DEATHS, killed

EVENTS = 2_000


def main() -> None:
    toll = killed(EVENTS, seed=1)
    print(f"{toll.events:,} events, {DEATHS:.0%} of all calls are the last of their function\n")
    print(f"functions run {toll.functions:,}, died {toll.deaths:,}")
    print(f"messages that the queue brought twice {toll.doubled:,}")
    print(f"\narrived            {toll.arrived:>6,}")
    print(f"never arrived      {toll.events - toll.arrived:>6,}")
    for record, times in toll.again.most_common():
        print(f"arrived again      {times:>6,}, after an attempt that is recorded as {record}")


if __name__ == "__main__":
    main()
