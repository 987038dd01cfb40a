"""Pictures of products: uploaded by a form, rendered once, shown at lasting addresses.

- `model`: what clients send, what the API shows, and the addresses
- `store`: pictures in the table
- `objects`: their files in S3
- `images`: from an uploaded file to what browsers show, by Pillow
- `render`: the worker, and the sweep of uploads whose event was lost
- `routes`: the API
"""
