"""A file's form: what it holds is said in its first lines, it is no longer than a reader can keep in mind, its name says a thing."""
import re

NAME = "layout"
LINES_MAX = 250
VAGUE = re.compile(r"(^|[/_])(manager|helpers?|utils?|common|misc)(?=[_./]|$)")


def _comment_start(path):
    if path.endswith((".cpp", ".hpp")):
        return "//"
    if path.endswith((".sh", ".cmake", "CMakeLists.txt", ".toml", ".yml", ".yaml")):
        return "#"
    if path.endswith(".mjs"):
        return "//"
    if path.endswith(".py"):
        return ('"""', "#")
    return None


def check(file):
    lines = file.lines
    start = _comment_start(file.path)
    if start and lines:
        first = lines[1] if lines[0].startswith("#!") and len(lines) > 1 else lines[0]
        text = first.lstrip("/#\" ").strip()
        if not first.startswith(start) or len(text) < 8:
            yield 1, "the first line says what the file holds"
    if file.path.endswith(".hpp") and not re.search(r"^#pragma once$", file.text, re.M):
        yield 1, "#pragma once is missing"
    if file.is_cpp and file.under("src", "include", "backends") and len(lines) > LINES_MAX:
        yield LINES_MAX, f"{len(lines)} lines, more than {LINES_MAX}: split it where it has two subjects"
    if file.is_cpp and file.under("src", "include", "backends") and VAGUE.search(file.path):
        yield 1, "the name says nothing about what is inside"
    if lines and not file.text.endswith("\n") and start:
        yield len(lines), "no newline at the end"


HEADER = "// Holds a thing. Next file: other.hpp.\n"
SAMPLES = [
    ("src/a.cpp", HEADER + "int x;\n", 0),
    ("src/a.cpp", "#include <vector>\n", 1),
    ("src/a.cpp", "//\nint x;\n", 1),
    ("src/a.hpp", HEADER + "#pragma once\nint x;\n", 0),
    ("src/a.hpp", HEADER + "int x;\n", 1),
    ("src/a.cpp", HEADER + "int x;\n" * 249, 0),
    ("src/a.cpp", HEADER + "int x;\n" * 250, 1),
    ("test/unit/a.cpp", HEADER + "int x;\n" * 400, 0),
    ("src/work/utils.cpp", HEADER, 1),
    ("src/work/key_helper.cpp", HEADER, 1),
    ("test/unit/whisper/helper_test.cpp", HEADER, 0),
    ("src/work/commonplace.cpp", HEADER, 0),
    ("src/a.cpp", HEADER + "int x;", 1),
    ("deploy/a.sh", "#!/usr/bin/env bash\n# Installs a thing.\ntrue\n", 0),
    ("deploy/a.sh", "#!/usr/bin/env bash\ntrue\n", 1),
    ("deploy/a.py", '#!/usr/bin/env python3\n"""Reads a thing."""\n', 0),
]
