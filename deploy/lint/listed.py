"""Every source file is named in a CMakeLists.txt: a file that nobody compiles proves nothing and rots."""
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
    for folder, text in listings.items():
        if folder in path.parents:
            name = str(path.relative_to(folder))
            if name in text or str(Path(name).with_suffix("")) in text or "GLOB" in text:
                return True
    return False


def check(file):
    if not file.path.endswith(".cpp") or not file.under("src", "backends", "test", "bench"):
        return
    listings = _listings(file.root) if file.root else {Path("src/work"): "add_library(work key.cpp)"}
    if not _named(file.path, listings):
        yield 1, "no CMakeLists.txt names this file"


SAMPLES = [
    ("src/work/key.cpp", "", 0),
    ("src/work/forgotten.cpp", "", 1),
    ("src/work/key.hpp", "", 0),
]
