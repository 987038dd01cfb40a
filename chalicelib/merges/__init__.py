"""Two customers who are one: what one has, the other gets.

`routes` starts a job, `work` does it.
"""
