#!/usr/bin/env python3
"""Tests the lints: every sample gives the findings it should, and each lint has one sample that passes and one that fails."""
import sys

from run import LINTS
from source import Source


def main():
    passed, failed = 0, 0
    for lint in LINTS:
        verdicts = set()
        for number, (path, text, expected) in enumerate(lint.SAMPLES):
            found = list(lint.check(Source(path, text)))
            verdicts.add(bool(expected))
            # A bad sample may be bad in two ways; a good one must be clean.
            good = bool(found) == bool(expected)
            passed, failed = passed + good, failed + (not good)
            if not good:
                print(f"{lint.NAME}, sample {number} ({path}): expected {expected} findings, got {found}\n{text[:400]}")
        if verdicts != {True, False}:
            failed += 1
            print(f"{lint.NAME}: needs a sample that passes and one that fails")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
