"""The modules at the root of `chalicelib/`, and which module may import which."""
