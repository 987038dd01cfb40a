"""Work that outlives the request which asked for it, in steps that may die, repeat and overlap.

`store` keeps how far each job has come, `queue` sends its next step, `run` takes one step after
another. What a step does is its slice's: `app.py` says which function that is for each type.
"""
