"""The cost of a cold start: CPU of a new process until its first request is answered.

It is compared with a bare process that imports what any such service needs: chalice, one boto3
client and 20 pydantic models. Both run with compiled modules, alternately, and are compared in
pairs. They end at once: the interpreter's own end would be a third of the time.
"""

import os
import subprocess
import sys
from statistics import median

from bench import stage

RUNS = 9

_BARE = """
import boto3
from chalice import Chalice
from pydantic import BaseModel
app = Chalice(app_name="bare")
boto3.client("dynamodb")
fields = {"__annotations__": {"name": str, "price": float, "n": int}}
for number in range(20):
    type(f"Model{number}", (BaseModel,), dict(fields))
"""
_OURS = """
import sys
from app import app
path = "/api/admin/products"
event = {
    "resource": path, "path": path, "httpMethod": "GET", "pathParameters": None, "body": None,
    "headers": {"authorization": "Bearer " + sys.argv[1]}, "multiValueHeaders": {},
    "multiValueQueryStringParameters": None, "isBase64Encoded": False, "stageVariables": None,
    "requestContext": {"resourcePath": path, "path": path, "httpMethod": "GET", "requestId": "1",
                       "identity": {"sourceIp": "203.0.113.7"}},
}
assert app(event, None)["statusCode"] == 200
"""


def main() -> None:
    with stage.tables():
        from chalicelib.api_keys import store
        from chalicelib.api_keys.model import Role

        _, key = store.mint("bench", Role.OWNER)
        pairs = []
        for run in range(RUNS + 1):
            pair = _cpu(_BARE), _cpu(_OURS, key)
            if run:  # the first pair compiles modules
                pairs.append(pair)
    bare, ours = (median(figures) for figures in zip(*pairs, strict=True))
    ratio = median(own / other for other, own in pairs)
    print(f"cold start, CPU s, median of {RUNS} pairs: bare {bare:.2f}, ours {ours:.2f}")
    print(f"ratio {ratio:.2f} (target 1.3); Vendure 2.3 s, Medusa 3.2 s, Saleor 6.0 s")


def _cpu(code: str, *arguments: str) -> float:
    """CPU seconds of a new process, which always keeps its compiled modules."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(
        [sys.executable, "-c", f"{code}\nimport os\nos._exit(0)", *arguments],
        stdout=subprocess.DEVNULL,
        env={**environment, "PYTHONPATH": ".", "AWS_LAMBDA_FUNCTION_NAME": "api"},
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
