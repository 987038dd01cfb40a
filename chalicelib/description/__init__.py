"""The description of the API, made from its routes and models.

- `openapi`: the document; `components`: its schemas; `limits`: its text about limits
- `public_names`: the names and texts that models do not have
"""
