"""Include direction: a file includes its own level's files or those of a level that stands later in LEVELS."""
import re

NAME = "layers"
LEVELS = ["main", "cli", "app", "server", "http", "work", "backends", "net", "observe", "hearonce"]
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)


def level_of_file(path):
    if path == "src/main.cpp":
        return "main"
    if path.startswith("include/hearonce/"):
        return "hearonce"
    if path.startswith("backends/"):
        return "backends"
    match = re.match(r"src/([a-z]+)/", path)
    return match.group(1) if match and match.group(1) in LEVELS else None


def level_of_include(name):
    first = name.split("/")[0]
    return first if "/" in name and first in LEVELS else None


def check(file):
    level = level_of_file(file.path)
    if not file.is_cpp or level is None:
        return
    for match in INCLUDE.finditer(file.text):
        name = match.group(1)
        line = file.line_of(match.start(1))
        if name.startswith(".") or "/../" in name:
            yield line, f"<{name}>: name it from src/ on, not relative to this file"
        target = level_of_include(name)
        if target and LEVELS.index(target) < LEVELS.index(level):
            yield line, f"{level} must not include <{name}>: {target} stands above it ({' -> '.join(LEVELS)})"
        if level == "hearonce" and name.startswith("boost/beast"):
            yield line, "the public headers show no Beast type"


SAMPLES = [
    ("src/http/router.cpp", "#include <http/exchange.hpp>\n#include <work/key.hpp>\n#include <hearonce/error.hpp>\n", 0),
    ("src/http/router.cpp", "#include <server/listener.hpp>\n", 1),
    ("src/work/key.cpp", "#include <backends/openai/openai.hpp>\n#include <vector>\n", 0),
    ("backends/openai/openai.cpp", "#include <net/call.hpp>\n", 0),
    ("src/net/call.cpp", "#include <backends/openai/openai.hpp>\n", 1),
    ("include/hearonce/audio.hpp", "#include <net/call.hpp>\n", 1),
    ("include/hearonce/audio.hpp", "#include <boost/beast/http.hpp>\n", 1),
    ("src/main.cpp", "#include <cli/serve.hpp>\n", 0),
    ("src/app/gateway.cpp", '#include "../cli/serve.hpp"\n', 1),
]
