"""An import, step by step.

`plan` splits the file, `backlog` keeps few of its parts on the queue at once, `run` imports a part,
`advance` starts the next step, `queue` sends the messages, `report` writes the errors, `dead` ends
jobs with dead letters.
"""
