"""The environment of the functions under test."""

SETTINGS = {
    "STAGE": "test",
    "TABLE": "backroom-test",
    "OUTBOX_TABLE": "backroom-test-outbox",
    "BUCKET": "backroom-test-bucket",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
}
