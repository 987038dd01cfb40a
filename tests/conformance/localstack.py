"""LocalStack, a second emulator of CloudFormation: on loopback, without containers.

Its DynamoDB is AWS's own engine from Maven, which stands where LocalStack looks for its download.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.conformance.engine import LIBRARY
from tests.support.running import free_port

PYTHON = LIBRARY.parent / "stacks/venv/bin/python"
_START_SECONDS, _STOP_SECONDS = 180, 60
# LocalStack starts a patched jar with an agent; this starts Maven's with the other options.
_JAVA = f"""#!/bin/sh
while [ "$1" != -port ]; do shift; done
exec {{java}} -Xmx256m -Djava.library.path={LIBRARY} -cp '{LIBRARY}/*' \\
  software.amazon.dynamodb.services.local.main.ServerRunner "$@" -disableTelemetry
"""


class LocalStack:
    """One process and its DynamoDB; everything that they write is below `home`."""

    def __init__(self, home: Path, mocks: Mapping[str, Any]) -> None:
        """`mocks`: what the tasks of state machines answer (SFN_MOCK_CONFIG)."""
        port = free_port()
        self.endpoint = f"http://127.0.0.1:{port}"
        self.log = home / "localstack.log"
        library = home / "var/lib/localstack/lib"
        java = library / "java/21/bin/java"
        java.parent.mkdir(parents=True)
        java.write_text(_JAVA.format(java=shutil.which("java")))
        java.chmod(0o755)
        jar = library / "dynamodb-local/2/DynamoDBLocal.jar"
        jar.parent.mkdir(parents=True)
        jar.touch()
        (home / "mocks.json").write_text(json.dumps(mocks))
        (home / "tmp").mkdir()
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "TMPDIR": str(home / "tmp"),
            "OVERRIDE_IN_DOCKER": "0",  # else it writes to /var and /usr of a container
            "FILESYSTEM_ROOT": str(home),
            "GATEWAY_LISTEN": f"127.0.0.1:{port}",
            "LOCALSTACK_HOST": f"127.0.0.1:{port}",
            "DNS_ADDRESS": "0",
            "DYNAMODB_IN_MEMORY": "1",
            # The usual provider of streams downloads an emulator of Kinesis.
            "PROVIDER_OVERRIDE_DYNAMODB": "v2",
            "PROVIDER_OVERRIDE_DYNAMODBSTREAMS": "v2",
            "SFN_MOCK_CONFIG": str(home / "mocks.json"),
            "DISABLE_EVENTS": "1",
            "SKIP_SSL_CERT_DOWNLOAD": "1",
        }
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [str(PYTHON), "-m", "localstack.runtime.main"],
                cwd=home,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            self._wait()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Ends its process group: DynamoDB is another process."""
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_STOP_SECONDS)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _wait(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.endpoint}/_localstack/health", timeout=5):
                    return
            except OSError:
                time.sleep(0.5)
        raise RuntimeError(f"LocalStack did not start:\n{self.log.read_text()[-4000:]}")
