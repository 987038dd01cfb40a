"""`--trusted-proxies`: the given blocks, or those that AWS lists for CloudFront."""

import boto3
import pytest
from botocore.stub import Stubber

from infra.proxies import resolve_blocks


def test_given_blocks_are_checked_and_used() -> None:
    assert resolve_blocks("10.0.0.0/8,2001:db8::/32 10.0.0.0/8", None) == "10.0.0.0/8 2001:db8::/32"
    assert resolve_blocks("192.0.2.1", None) == "192.0.2.1/32"
    for wrong in ("10.0.0.1/8", "proxy.example.com", "10.0.0.0/33"):
        with pytest.raises(ValueError, match=r"does not appear|has host bits"):
            resolve_blocks(wrong, None)


def test_cloudfront_blocks_are_those_that_aws_lists() -> None:
    ec2 = boto3.client(
        "ec2", region_name="eu-central-1", aws_access_key_id="x", aws_secret_access_key="x"
    )
    with Stubber(ec2) as aws:
        aws.add_response(
            "describe_managed_prefix_lists",
            {"PrefixLists": [{"PrefixListId": "pl-1"}, {"PrefixListId": "pl-2"}]},
        )
        for block in ("120.52.22.96/27", "2600:9000::/36"):
            aws.add_response("get_managed_prefix_list_entries", {"Entries": [{"Cidr": block}]})
        assert resolve_blocks("CloudFront 192.0.2.0/24", ec2) == (
            "120.52.22.96/27 2600:9000::/36 192.0.2.0/24"
        )
