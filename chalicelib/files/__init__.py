"""Pictures of products, shown at lasting addresses, and files of orders, which only the shop sees.

Both are uploaded by a form, and rendered once.

- `model`: pictures: what clients send, what the API shows, and the addresses
- `schemas`: the same of files of orders; what an order does with them: `orders/files.py`
- `store`: both in the table
- `objects`: both in S3
- `images`: from an uploaded file to what browsers show, by Pillow
- `render`: the worker, and the sweep of uploads whose event was lost
- `routes`: the API of pictures
"""
