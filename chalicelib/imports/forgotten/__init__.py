"""`store`: what an erasure takes away of imports."""
