"""Lists, searches and totals on the double: `things` is a kind with every feature."""
