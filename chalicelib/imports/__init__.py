"""Imports: a file becomes products.

- HTTP: `routes`, `multipart_form`, `schemas`, `model`; `mappings`, saved ones
- the file: `csv` (bytes to rows), `formats` (rows to products), `columns` (which format it has),
  `files` (in S3)
- its products: `joining` (which rows are one), `chunks` (what a worker reads)
- the work: `steps` (plan, chunks, report), `store` (the job and its progress),
  `forgotten` (deleted when a customer is erased)
- the catalogue: `apply` (merge), `upsert` (look up, merge, write), `catalogue`; `foreseen` and
  `preview` (what a mapping, or a dry run, would do)
"""
