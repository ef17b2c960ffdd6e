"""Tests of the client. `python3 -m tests` runs them and counts them on the last line."""
