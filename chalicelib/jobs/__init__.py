"""Work that continues after its request, in steps that may crash, repeat and overlap.

`store` keeps each job's progress, `queue` sends its next step, `run` runs one step after another.
Each slice defines its steps: `app.py` maps job types to their functions.
"""
