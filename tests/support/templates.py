"""The CloudFormation templates of `infra`."""

from pathlib import Path
from typing import Any, Final

INFRA: Final = Path(__file__).resolve().parents[2] / "infra"


def load_template(name: str) -> dict[str, Any]:
    """Read a template, such as `triggers.yaml`."""
    from cfnlint.decode import cfn_yaml  # takes a second, which all other tests would wait for

    template: dict[str, Any] = cfn_yaml.load(str(INFRA / name))
    return template
