"""The job that forgets a customer."""

from typing import Final

TYPE: Final = "customer_erasure"
