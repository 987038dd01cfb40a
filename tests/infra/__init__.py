"""The tools of `infra`, without an emulator: what they ask AWS for, and what they say."""
