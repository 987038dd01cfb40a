"""What docs/first-hour.md says was never run on AWS, as checks of a deployed stage.

`listed` has every statement, in the order of the page; `statements` runs one and prints its row.
`stage` is the deployed shop that is checked. The checks: `shop` (requests and files), `webhooks`
(with `receiver`, a receiver that is deployed too), `services` (what the stage's own AWS says),
`units` (request units), `deployment` (deploying a trial, and taking it down).
"""
