"""Every line of "What was never run on AWS" (docs/first-hour.md): its check, or why there is none.

`tests/infra/test_verification.py` holds both lists together.
"""

from typing import Final

from infra.verification import deployment, services, shop, units, webhooks
from infra.verification.statements import Statement

_NO_CHALICE: Final = "it lacks the import of an API that Chalice calls; `tests/deploy` has a proxy"
_NO_LIMITS: Final = "its functions are processes of this machine, without Lambda's limits"
_NO_METRICS: Final = "it measures nothing, and has no metric math"

STATEMENTS: Final = (
    # ---- Deployment ----
    Statement("A package is deployed to an empty account.", deployment.by_package),
    Statement("Chalice deploys the API over it.", deployment.by_chalice, _NO_CHALICE),
    Statement("A later deployment interrupts nobody.", deployment.later_change),
    Statement("A change that fails is rolled back.", deployment.failing_change),
    Statement("A table cannot be deleted by mistake.", deployment.protection),
    Statement(
        "A domain and its certificate lead to the API.",
        no_program="it needs a domain that is yours",
    ),
    # ---- Requests and files ----
    Statement("The API answers.", shop.answers),
    Statement("Every route answers its role, and refuses others.", shop.routes_by_role),
    Statement("The shop does its main job.", shop.main_job),
    Statement("A file is imported by form.", shop.import_by_form),
    Statement("A file is imported by S3, at the region's own address.", shop.import_by_s3),
    Statement("An uploaded picture is rendered, and seen by everybody.", shop.picture_by_s3),
    Statement("The bucket refuses plain HTTP.", shop.https_only, "it has no HTTPS"),
    Statement(
        "Conflicts and throttles under load cost nobody an order.",
        shop.under_load,
    ),
    Statement("A request is found in the log by its id.", shop.find_request_log),
    Statement(
        "API Gateway's id of a request is ours.",
        shop.request_id,
        "it sends another id in that header",
    ),
    # ---- Webhooks ----
    Statement("A signed delivery reaches a receiver.", webhooks.deliver_signed),
    Statement("A failed delivery is retried.", webhooks.retry_failed),
    Statement("A slow receiver and a redirect are failures.", webhooks.slow_and_redirect),
    Statement(
        "The week of retries, scaled: SQS's delay, the state machine.",
        webhooks.schedule,
    ),
    Statement("An event that cannot be read stops no other.", webhooks.unreadable_event),
    Statement(
        "SQS's own limits: 15 minutes, 120,000 messages in flight, fair queues.",
        no_program="they take many thousand messages",
    ),
    Statement(
        "Bisecting and the end of the stream's retries.",
        no_program="the stream gives up after 24 hours",
    ),
    # ---- Permissions and schedules ----
    Statement(
        "Each role refuses what its function must not do.",
        services.roles,
        "its simulation of policies ignores leading keys; `make conformance-roles` has another",
    ),
    Statement("A schedule calls its function.", services.schedules),
    Statement("The queues are encrypted, and work.", services.encrypted_queues),
    # ---- Lambda ----
    Statement(
        "Functions stay within their memory and start quickly.", services.cold_starts, _NO_LIMITS
    ),
    Statement("Warm requests are quick.", shop.warm_latency),
    Statement(
        "The botocore of Lambda's runtime makes our calls.",
        webhooks.botocore_of_lambda,
        "its functions have the botocore of this machine",
    ),
    # ---- Watching ----
    Statement("Alarms go to ALARM and back.", services.alarms),
    Statement("The alarms with metric math have a state.", services.metric_math, _NO_METRICS),
    Statement("The dashboard has its metrics.", services.dashboard, _NO_METRICS),
    Statement(
        "Patterns fit the lines of the log.", services.log_filters, "it does not test patterns"
    ),
    Statement(
        "The query of slow routes finds them.",
        services.slow_routes,
        "its queries of logs count nothing by fields",
    ),
    Statement(
        "The other commands of operations.md and lost.md.",
        no_program="an operator decides on what they do, and a restore takes up to hours",
    ),
    Statement(
        "Summaries of failed deliveries are mailed.",
        no_program="SES sends only from, and at first only to, addresses that you have verified",
    ),
    # ---- Tables and costs ----
    Statement(
        "Items expire.",
        services.time_to_live,
        "it leaves time-to-live off in a table that CloudFormation makes",
    ),
    Statement(
        "Requests take the documented units.",
        units.as_documented,
        "it does not count the units of reads",
    ),
    Statement("A stage that is destroyed with its data leaves nothing.", deployment.take_down),
)
