"""An import, step by step.

`plan` splits the file, `lanes` keeps few of its parts on the queue at once, `run` imports a part
that `reader` reads, `begin` says what becomes of rows whose product does not exist, `advance` moves
the job on, `queue` sends the messages, `waiting` holds rows that need others, `tally` counts
products whose rows are at several places, `report` writes the errors, `dead` ends jobs whose
messages died.
"""
