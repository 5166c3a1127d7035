#!/usr/bin/env python3
"""Runs the project's own lints over the whole tree: deploy/lint/run.py [ROOT]

Each lint is a module with NAME, a function check(file) that yields (line, message), and SAMPLES, which self_test.py runs.
Exit 1 with one "path:line: lint: message" a finding.
"""
import sys
from pathlib import Path

import beast
import banned
import coroutines
import layers
import layout
import listed
import traces
from source import Source, tracked

LINTS = [layers, coroutines, banned, beast, layout, listed, traces]


def findings(file, lints=None):
    """Every finding of every lint in one file, in the order of its lines."""
    found = []
    for lint in lints or LINTS:
        for line, message in lint.check(file):
            found.append((line, lint.NAME, message))
    return sorted(found)


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2])
    count = files = 0
    for path in tracked(root):
        file = Source.read(root, path)
        if file is None:
            continue
        files += 1
        for line, name, message in findings(file):
            count += 1
            print(f"{path}:{line}: {name}: {message}")
    print(f"{files} files, {len(LINTS)} lints, {count} findings")
    return 1 if count or files == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
