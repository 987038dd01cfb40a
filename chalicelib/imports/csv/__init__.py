"""From the bytes of a CSV to the rows of one product.

`opening` finds the format (`encodings`, `workbooks`); `lines`, `rows` and `groups` read,
`places` joins the groups of a product, `chunks` cuts, `faults` are the errors of rows and files.
"""
