"""The values that the shop has used, to choose from: vendors, types, tags, sales reps and more."""
