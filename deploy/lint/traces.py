"""The project speaks of itself alone: no path of somebody's machine, no ticket numbers, no notes left for later."""
import re

NAME = "traces"
# Put together from parts so that this file does not find itself.
SLASH = "/"
PATTERNS = [
    (re.compile(r"(?<![\w.$}])" + SLASH + r"(?:work|root|tmp/h)" + SLASH + r"\w"), "a path of one machine"),
    (re.compile(r"(?<![\w.$}])" + SLASH + r"home" + SLASH + r"(?!hearonce)\w"), "a path of one machine"),
    (re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b"), "a note for later: do it, or leave it out"),
    (re.compile(r"\b[Ii]ssue\s+#?\d+|(?<![\w&#])#\d{1,4}\b(?!\s*(?:define|include))(?=[\s).,;])"), "a ticket number: say the reason itself"),
    (re.compile(r"registry\." + r"npmjs|\"resolved\"\s*:"), "a download address: packages go by name"),
    (re.compile(r"^(?:<<<<<<<|>>>>>>>)"), "an unresolved merge"),
]
BINARY_LIKE = (".svg", ".json.gz")


def check(file):
    if file.path.endswith(BINARY_LIKE) or file.path == "LICENSE":
        return
    for number, line in enumerate(file.lines, 1):
        for pattern, reason in PATTERNS:
            match = pattern.search(line)
            if match:
                yield number, f"{match.group(0).strip()!r}: {reason}"


SAMPLES = [
    ("README.md", "Run it in your own folder; see src/work/key.hpp and https://example.org/work/x.\n", 0),
    ("README.md", "cd " + SLASH + "work/hearonce\n", 1),
    ("README.md", "cp x " + SLASH + "root/x\n", 1),
    ("README.md", "cp x " + SLASH + "home/ann/x\n", 1),
    ("src/a.cpp", "// TO" + "DO: later\n", 1),
    ("src/a.cpp", "// As asked in issue " + "12.\n", 1),
    ("src/a.cpp", "// Fixed (#" + "12).\n", 1),
    ("src/a.hpp", "#include <a>\nauto color = \"#123456\";\n", 0),
    ("test/clients/package-lock.json", '"resolved' + '": "x"\n', 1),
]
