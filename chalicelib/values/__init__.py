"""Values of the shop: how each is read, checked and written. Nothing here calls AWS."""
