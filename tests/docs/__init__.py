"""What the documents say: about the code, about each other, and in commands that one can copy."""
