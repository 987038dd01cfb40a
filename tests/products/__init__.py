"""Products on the double. `build` has valid products."""
