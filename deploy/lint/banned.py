"""Names that are not used here, each with the reason."""
import re

NAME = "banned"
BANNED = [
    (r"\bdetached\b", "a detached coroutine loses its exception and has no owner: give it a completion handler"),
    (r"\bawaitable_operators\b", "|| and && of awaitables lose errors and wait for losers: use with_deadline or a parallel_group"),
    (r"\bany_completion_handler\b", "its move assignment recurses for ever in Boost 1.81"),
    (r"\bexperimental\s*::\s*(?:concurrent_)?channel\b|experimental/(?:concurrent_)?channel\.hpp", "channels lose messages in Boost 1.81"),
    (r"\bdeadline_timer\b|\bexpires_from_now\b|\bbuffer_cast\b|\baddress::from_string\b", "newer Boost has removed it"),
    (r"\bio_context::(?:work|strand)\b|\bget_io_service\b", "newer Boost has removed it"),
    (r"\bstd::regex\b", "it recurses with the input's length: hostile input overflows the stack"),
    (r"\b(?:strcpy|sprintf|strcat|gets|atoi|atof|strtok)\s*\(", "no bounds or no error: use std::from_chars, fmt or std::string"),
    (r"\busing\s+namespace\s+std\s*;", "names from std are written out"),
]
# A test waits for what it tests, on a fake clock or an event; a sleep makes it slow and, on a busy machine, wrong.
SLEEP = re.compile(r"\bsleep_for\b|\bsleep_until\b|\busleep\s*\(|(?<![\w:.])sleep\s*\(")


def check(file):
    if not file.is_cpp:
        return
    for pattern, reason in BANNED:
        for match in re.finditer(pattern, file.code):
            yield file.line_of(match.start()), f"{match.group(0).strip()}: {reason}"
    if file.under("src", "include", "backends"):
        for match in SLEEP.finditer(file.code):
            yield file.line_of(match.start()), f"{match.group(0).strip()}: blocks its thread and everything on it"


SAMPLES = [
    ("src/a.cpp", "// detached is not used here\nasio::co_spawn(ex, f(), [](std::exception_ptr e) { if (e) log(e); });\n", 0),
    ("src/a.cpp", "asio::co_spawn(ex, f(), asio::detached);\n", 1),
    ("src/a.cpp", "#include <boost/asio/experimental/channel.hpp>\n", 1),
    ("src/a.cpp", "#include <boost/asio/experimental/parallel_group.hpp>\n", 0),
    ("src/a.cpp", "using namespace asio::experimental::awaitable_operators;\n", 1),
    ("src/a.cpp", "asio::any_completion_handler<void()> h;\n", 1),
    ("src/a.cpp", "timer.expires_from_now(1s);\n", 1),
    ("src/a.cpp", "int n = atoi(text);\n", 1),
    ("src/a.cpp", "std::this_thread::sleep_for(1s);\n", 1),
    ("src/a.cpp", "using namespace std::chrono_literals;\n", 0),
    ("src/a.cpp", "using namespace std;\n", 1),
    ("src/a.cpp", "co_await sleep_then(1s);\n", 0),
]
