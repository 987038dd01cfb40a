"""Work that outlives the request which asked for it, in steps that may die, repeat and overlap.

`store` keeps each job's progress, `queue` sends its next step, `run` runs one step after another.
Each slice defines its steps: `app.py` maps job types to their functions.
"""
