"""Runs all tests. The last line counts them, such as `40 passed, 0 failed`."""

import sys
import unittest
from pathlib import Path

suite = unittest.defaultTestLoader.discover(
    str(Path(__file__).parent), top_level_dir=str(Path(__file__).parents[1])
)
result = unittest.TextTestRunner(sys.stdout, verbosity=1).run(suite)
failed = {test.id() for test, _ in result.failures + result.errors}
for name in sorted(failed):
    print("failed:", name)
passed = result.testsRun - len(failed) - len(result.skipped)
line = f"{passed} passed, {len(failed)} failed"
print(line + (f", {len(result.skipped)} skipped" if result.skipped else ""))
sys.exit(0 if result.wasSuccessful() and passed > 0 else 1)
