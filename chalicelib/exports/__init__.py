"""The shop's records as a file: CSV or one JSON object a line.

`columns` defines what a record's rows hold, `work` writes the file a piece at a time, `store` keeps
it in S3.
"""
