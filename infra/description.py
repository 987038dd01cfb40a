"""Prints the description of the API, as `GET /api/openapi.json` answers it.

python -m infra.description > openapi.json
"""

import json
import sys

import app
from chalicelib.description import openapi


def main() -> None:
    assert app.app  # its import declares the routes
    json.dump(openapi.document(), sys.stdout, indent=1)


if __name__ == "__main__":
    main()
