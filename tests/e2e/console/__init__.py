"""The console in Chromium. `desk` has the helpers for pages and controls."""
