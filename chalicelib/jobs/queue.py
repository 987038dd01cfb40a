"""The queue of jobs. A message is the next step of one job; each may come twice, or late."""

import json

from chalicelib import settings, sqs


def send(job_id: str, step: int, seconds: int = 0) -> None:
    """Send the message of a step, which becomes visible after `seconds`, up to 900."""
    body = json.dumps({"job": job_id, "step": step})
    message = {"MessageBody": body, "DelaySeconds": seconds}
    sqs.send(settings.jobs_queue_url(), [message])


def show_again(receipt: str, seconds: int) -> None:
    """Make a failed message visible again after some seconds, not after its visibility timeout."""
    sqs.hide(settings.jobs_queue_url(), {receipt: seconds})
