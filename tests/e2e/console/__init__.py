"""The console in Chromium, as somebody in the shop uses it: `desk` has what they see and press."""
