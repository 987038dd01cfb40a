"""The deployment itself, apart from the shop's functions."""

import pytest
from botocore.exceptions import ClientError

from infra import steps
from tests.e2e.recorded import client
from tests.support.running import Stack


def test_the_functions_run_the_package_and_not_the_source_tree(stack: Stack) -> None:
    functions = client(stack.aws_endpoint, "lambda").list_functions()["Functions"]
    sizes = {f["FunctionName"]: f["CodeSize"] for f in functions}
    assert set(sizes) == set(steps.function_names("local"))
    assert len(set(sizes.values())) == 1
    assert min(sizes.values()) > 1_000_000


def test_forms_with_files_are_declared_as_binary(stack: Stack) -> None:
    """API Gateway corrupts a body whose media type is not declared as binary."""
    (api,) = client(stack.aws_endpoint, "apigateway").get_rest_apis()["items"]
    assert "multipart/form-data" in api["binaryMediaTypes"]


def test_a_principal_without_permissions_is_refused(stack: Stack) -> None:
    """The emulator checks permissions; otherwise a missing grant would not be noticed."""
    iam = client(stack.aws_endpoint, "iam")
    iam.create_user(UserName="stranger")
    key = iam.create_access_key(UserName="stranger")["AccessKey"]
    denied = client(stack.aws_endpoint, "dynamodb", key)
    with pytest.raises(ClientError, match="AccessDenied"):
        denied.scan(TableName="backroom-local")


def test_the_master_key_is_a_separate_secret(stack: Stack) -> None:
    ssm = client(stack.aws_endpoint, "ssm")
    found = ssm.get_parameter(Name="/backroom/local/master-key", WithDecryption=True)["Parameter"]
    assert found["Type"] == "SecureString"
    assert len(found["Value"]) >= 40
