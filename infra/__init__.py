"""Deployment and operation. The programs that docs/operations.md names are run as files.

- deploying: `deploy`, `destroy`, by `steps`, `stacks` (CloudFormation; `resources.yaml`,
  `triggers.yaml`, `alarms.yaml`), `package` and `compiled` (the zip), `layer`, `record` and
  `release` (what
  is deployed), `lanes` (functions for each queue), `proxies`; `command_line` for Chalice's commands
- this machine: `local` (`make run`), `emulator` and `emulator_start` (the embedded AWS), with
  `emulator_guard` (who may ask it) and `emulator_snapshots` (what it keeps), `seed`
  (the sample catalogue), `log_lines`, `receiver` (of webhooks); `install` and `browser` for `make`
- operating: `keys`, `counts`, `dead_letters`, `reindex`, `backup`; `refused` says what AWS said;
  `description` prints OpenAPI, `limits` and `guide` write pages, `screenshots` their pictures
- the first hour on AWS: `verify`, with its statements and checks in `verification`
"""
