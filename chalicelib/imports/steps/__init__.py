"""An import, step by step.

`plan` splits the file, `lanes` keeps few of its parts on the queue at once, `run` imports a part
that `reader` reads, `begin` decides about rows whose product does not exist, `advance` starts the
next step, `queue` sends the messages, `waiting` holds rows that need others, `tally` counts
products whose rows are at several places, `report` writes the errors, `dead` ends jobs with dead
letters.
"""
