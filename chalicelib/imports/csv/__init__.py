"""From the bytes of a CSV to groups of adjacent rows of one product.

`opening` finds the format (`encodings`, `workbooks`); `lines`, `rows` and `groups` read; `faults`
are the errors of rows and files.
"""
