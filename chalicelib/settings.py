"""The settings of the running function. The only reader of the environment.

Every setting is read when it is used, so a test can change it, and a function never fails at
import for a missing setting that it does not use.
"""

import os


def stage() -> str:
    return os.environ.get("STAGE", "dev")


def in_lambda() -> bool:
    """Tell whether this is Lambda: not while Chalice's command line imports the application."""
    return "AWS_LAMBDA_FUNCTION_NAME" in os.environ and not at_chalices_command_line()


def at_chalices_command_line() -> bool:
    """Tell whether a command of Chalice imports the application.

    Such are `chalice deploy` and `chalice local`.
    """
    return "AWS_CHALICE_CLI_MODE" in os.environ


def conflict_seconds() -> float:
    """Return how long an order's conflicting writes are retried before 503."""
    return float(os.environ.get("CONFLICT_SECONDS", "0.8"))


def table() -> str:
    return os.environ["TABLE"]


def outbox_table() -> str:
    return os.environ["OUTBOX_TABLE"]


def bucket() -> str:
    return os.environ["BUCKET"]


def emulator() -> str | None:
    """Return the address of an emulated AWS, which has all services; None on AWS itself."""
    return os.environ.get("AWS_ENDPOINT_URL")


def upload_origin() -> str:
    """Return where a browser uploads files of an import: the bucket's address in its region.

    The global address redirects to it, which breaks both CORS and the signature.
    """
    return emulator() or _bucket_origin(bucket())


def pictures_bucket() -> str:
    """Return the bucket whose objects the public may read: pictures of products."""
    return os.environ.get("PICTURES_BUCKET", "")


def pictures_origin() -> str:
    """Return the address of that bucket. Tools of an operator may not know it, nor need it."""
    name = pictures_bucket()
    return f"{address}/{name}" if (address := emulator()) else _bucket_origin(name)


def picture_address() -> str:
    """Return the address below which pictures are shown: the bucket's, or that of a CDN."""
    return os.environ.get("PICTURE_ADDRESS") or pictures_origin()


def _bucket_origin(name: str) -> str:
    region = os.environ.get("AWS_DEFAULT_REGION", "")
    domain = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return f"https://{name}.s3.{region}.{domain}"


def import_queue_url() -> str:
    return os.environ["IMPORT_QUEUE_URL"]


def imports_at_once() -> int:
    """Return the chunks that the largest account imports at once (infra/triggers.yaml)."""
    return 2 if emulator() else 50


def planner() -> str:
    """Return the name of the function that plans imports."""
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
    """Return the name of the parameter that holds the master key.

    It is a SecureString of SSM, from which the signing secrets are derived.
    """
    return os.environ["MASTER_KEY_PARAMETER"]


def base_path() -> str | None:
    """Return the API's path below its host, if API Gateway does not know it.

    The emulator sets it. Behind a proxy that hides the stage it is "".
    """
    return os.environ.get("BASE_PATH")


def currency() -> str:
    """Return the ISO 4217 code of the one currency in which the shop sells."""
    return os.environ.get("CURRENCY", "USD")


def trusted_proxies() -> tuple[str, ...]:
    """Return the CIDR blocks of the proxies before the API whose X-Forwarded-For counts.

    There are usually none.
    """
    return tuple(os.environ.get("TRUSTED_PROXIES", "").split())


def storefront_max_age() -> int:
    """Return the seconds for which browsers and CDNs may cache storefront answers."""
    return int(os.environ.get("STOREFRONT_MAX_AGE", "5"))


def shop_name() -> str:
    """Return the name that stands on what the console prints; empty: none."""
    return os.environ.get("SHOP_NAME", "").strip()


def timezone() -> str:
    """Return the IANA name of the zone in which the shop's days begin and end."""
    return os.environ.get("TIMEZONE", "UTC")


def webhook_allowed_networks() -> tuple[str, ...]:
    """Return the CIDR blocks of receivers that need not be public.

    They are empty in production.
    """
    return tuple(os.environ.get("WEBHOOK_ALLOWED_NETWORKS", "").split())


def webhook_schedule_scale() -> float:
    """Return a factor of the retry delays: 1 everywhere but in tests."""
    return float(os.environ.get("WEBHOOK_SCHEDULE_SCALE", "1"))


def mail_from() -> str:
    """Return the sender of the summary e-mails; empty: none are sent."""
    return os.environ.get("MAIL_FROM", "")


def notify_email() -> str:
    """Return the recipient of the summaries of webhooks without `email`; empty: none."""
    return os.environ.get("NOTIFY_EMAIL", "")


def of_child(**further: str) -> dict[str, str]:
    """Return the environment of a process that a function starts."""
    return {**os.environ, **further}
