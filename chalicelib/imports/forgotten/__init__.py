"""`store`: what an erasure deletes of imports."""
