"""An import, step by step.

`plan` splits the file, `run` imports a chunk, `advance` moves the job on, `queue` sends the
messages, `waiting` holds rows that need others, `report` writes the errors, `dead` ends jobs whose
messages died.
"""
