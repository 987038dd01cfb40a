"""The settings of the running function. The only reader of the environment.

Every setting is read when it is used, so a test can change it, and a function never fails at
import for a missing setting that it does not use.
"""

import os


def stage() -> str:
    return os.environ.get("STAGE", "dev")


def in_lambda() -> bool:
    """False while Chalice's command line imports the application, even in Lambda."""
    return "AWS_LAMBDA_FUNCTION_NAME" in os.environ and not at_chalices_command_line()


def at_chalices_command_line() -> bool:
    """While `chalice deploy`, `chalice local` and the like import the application."""
    return "AWS_CHALICE_CLI_MODE" in os.environ


def conflict_seconds() -> float:
    """How long an order's conflicting writes are retried before 503."""
    return float(os.environ.get("CONFLICT_SECONDS", "0.8"))


def table() -> str:
    return os.environ["TABLE"]


def outbox_table() -> str:
    return os.environ["OUTBOX_TABLE"]


def bucket() -> str:
    return os.environ["BUCKET"]


def emulator() -> str | None:
    """The address of an emulated AWS, which answers for all services; None on AWS itself."""
    return os.environ.get("AWS_ENDPOINT_URL")


def upload_origin() -> str:
    """Where a browser uploads files of an import: the bucket's address in its own region. The
    global one redirects to it, which breaks both CORS and the signature."""
    if address := emulator():
        return address
    region = os.environ["AWS_DEFAULT_REGION"]
    domain = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return f"https://{bucket()}.s3.{region}.{domain}"


def import_queue_url() -> str:
    return os.environ["IMPORT_QUEUE_URL"]


def imports_at_once() -> int:
    """Chunks that the largest account imports at once (infra/triggers.yaml)."""
    return 2 if emulator() else 50


def planner() -> str:
    """The name of the function that plans imports."""
    return f"backroom-{stage()}-plan_import"


def jobs_queue_url() -> str:
    return os.environ["JOBS_QUEUE_URL"]


def deliveries_queue_url() -> str:
    return os.environ["DELIVERIES_QUEUE_URL"]


def retries_queue_url() -> str:
    return os.environ["RETRIES_QUEUE_URL"]


def fan_out_dead_queue_url() -> str:
    return os.environ["FAN_OUT_DEAD_QUEUE_URL"]


def redrive_state_machine_arn() -> str:
    return os.environ["REDRIVE_STATE_MACHINE_ARN"]


def master_key_parameter() -> str:
    """Name of the SSM SecureString from which the signing secrets are derived."""
    return os.environ["MASTER_KEY_PARAMETER"]


def base_path() -> str | None:
    """The API's path below its host, if API Gateway does not provide it: on the emulator."""
    return os.environ.get("BASE_PATH")


def currency() -> str:
    """ISO 4217 code of the one currency in which the shop sells."""
    return os.environ.get("CURRENCY", "USD")


def trusted_proxies() -> tuple[str, ...]:
    """CIDR blocks of the proxies before the API whose X-Forwarded-For counts; usually none."""
    return tuple(os.environ.get("TRUSTED_PROXIES", "").split())


def storefront_max_age() -> int:
    """Seconds for which browsers and CDNs may cache storefront answers."""
    return int(os.environ.get("STOREFRONT_MAX_AGE", "5"))


def timezone() -> str:
    """IANA name of the zone in which the shop's days begin and end."""
    return os.environ.get("TIMEZONE", "UTC")


def webhook_allowed_networks() -> tuple[str, ...]:
    """CIDR blocks of receivers that need not be public; empty in production."""
    return tuple(os.environ.get("WEBHOOK_ALLOWED_NETWORKS", "").split())


def webhook_schedule_scale() -> float:
    """A factor of the retry delays: 1 everywhere but in tests."""
    return float(os.environ.get("WEBHOOK_SCHEDULE_SCALE", "1"))


def mail_from() -> str:
    """Sender of the summary e-mails; empty: none are sent."""
    return os.environ.get("MAIL_FROM", "")


def notify_email() -> str:
    """Recipient of the summaries of webhooks without `email`; empty: none."""
    return os.environ.get("NOTIFY_EMAIL", "")


def of_child(**further: str) -> dict[str, str]:
    """The environment of a process that a function starts."""
    return {**os.environ, **further}
