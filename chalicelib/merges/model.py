"""What clients send to merge customers."""

from typing import Annotated

from pydantic import Field

from chalicelib.schemas import Input


class Merge(Input):
    """Into whom a customer is merged."""

    into: Annotated[
        str, Field(min_length=1, max_length=60, description="Id of the customer to keep")
    ]
