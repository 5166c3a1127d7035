"""Every source file is named in a CMakeLists.txt: a file that nobody compiles proves nothing and rots."""
import re
from functools import lru_cache
from pathlib import Path

NAME = "listed"


@lru_cache(maxsize=None)
def _listings(root):
    """The text of every CMakeLists.txt above or beside the sources, by folder."""
    found = {}
    for folder in ("src", "backends", "test", "bench"):
        for path in (root / folder).rglob("CMakeLists.txt"):
            found[path.parent.relative_to(root)] = path.read_text()
    return found


def _named(path, listings):
    path = Path(path)
    # A list of subjects from which CMake makes the names: foreach(subject framing drain) ... ${subject}_test.cpp
    subject, _, kind = path.stem.rpartition("_")
    for text in listings.values():
        if re.search(rf"(?<![\w.-]){re.escape(path.name)}(?![\w.-])", text):
            return True
        if "}.cpp" in text and re.search(rf"\b{re.escape(path.stem)}\b", text):
            return True
        if f"}}_{kind}.cpp" in text and re.search(rf"\b{re.escape(subject)}\b", text):
            return True
    return False


def check(file):
    if not file.path.endswith(".cpp") or not file.under("src", "backends", "test", "bench"):
        return
    listings = _listings(file.root) if file.root else SAMPLE
    if not _named(file.path, listings):
        yield 1, "no CMakeLists.txt names this file"


SAMPLE = {
    Path("src/work"): "add_library(work key.cpp)",
    Path("test/server"): "foreach(subject drain)\n hearonce_test(${subject} SOURCES ${subject}_test.cpp)\nendforeach()",
}
SAMPLES = [
    ("src/work/key.cpp", "", 0),
    ("src/work/forgotten.cpp", "", 1),
    ("src/work/key.hpp", "", 0),
    ("test/server/drain_test.cpp", "", 0),
    ("test/server/train_test.cpp", "", 1),
]
