"""Orders, their money and their lists: the rules, races and random walks, through the API."""
