"""The shape of a co_await: its statement holds no braces, no ?:, no condition, no && or ||, no second co_await.

Compilers in the field destroy temporaries twice in those shapes; and a reader sees where a function may be suspended.
"""
import re

NAME = "co_await"
AWAIT = re.compile(r"\bco_await\b")
CONTROL = re.compile(r"\b(if|while|switch|for)\s*(constexpr\s*)?\(")
# What may stand before the brace of a block; before a brace of an initialiser stands a name, '=', ',', '(' or a type's '>'.
BLOCK_BEFORE = re.compile(r"(?:[;{})]|\b(?:else|do|try|mutable|noexcept|const|override|final)|->[^;{}()]*|:)\s*$")
DECLARATION = re.compile(r"^\s*(?:inline\s+)?(?:namespace|struct|class|enum|union|extern)\b")


def _opens_block(code, brace):
    before = code[max(0, brace - 300):brace].rstrip()
    if not before or BLOCK_BEFORE.search(before):
        return True
    statement = re.split(r"[;{}]", before)[-1]
    return bool(DECLARATION.match(statement))


def _start(code, offset):
    """Where the statement begins that holds what stands at offset: after the nearest ';' or brace of a block."""
    skipped = 0  # braces closed on the way back
    for i in range(offset - 1, -1, -1):
        c = code[i]
        if c == "}":
            # A block that ended before us ends the search; an initialiser's closing brace is part of our statement.
            opening = _matching_open(code, i)
            if opening is None or _opens_block(code, opening):
                if code[i + 1:offset].lstrip()[:1] not in (")", ","):
                    return i + 1
            skipped += 1
        elif c == "{":
            if skipped:
                skipped -= 1
            elif _opens_block(code, i):
                return i + 1
        elif c == ";" and not skipped:
            return i + 1
    return 0


def _matching_open(code, closing):
    depth = 0
    for i in range(closing, -1, -1):
        if code[i] == "}":
            depth += 1
        elif code[i] == "{":
            depth -= 1
            if depth == 0:
                return i
    return None


def _end(code, start):
    """Where the statement ends: its ';' outside all brackets, or the brace of the block that a condition governs."""
    round_depth = brace_depth = 0
    for i in range(start, len(code)):
        c = code[i]
        if c == "(":
            round_depth += 1
        elif c == ")":
            round_depth -= 1
        elif c == "{":
            if round_depth <= 0 and brace_depth == 0 and _opens_block(code, i):
                return i
            brace_depth += 1
        elif c == "}":
            brace_depth -= 1
            if brace_depth < 0:
                return i
        elif c == ";" and round_depth <= 0 and brace_depth <= 0:
            return i
    return len(code)


def _conditions(statement):
    """Where the round brackets of each if, while, switch and for begin and end."""
    for match in CONTROL.finditer(statement):
        depth, i = 1, match.end()
        while i < len(statement) and depth:
            depth += {"(": 1, ")": -1}.get(statement[i], 0)
            i += 1
        yield match.end(), i


def check(file):
    if not file.is_cpp:
        return
    code = file.code
    seen = set()
    for match in AWAIT.finditer(code):
        start = _start(code, match.start())
        if start in seen:
            continue
        seen.add(start)
        statement = code[start:_end(code, start)]
        line = file.line_of(match.start())
        if len(AWAIT.findall(statement)) > 1:
            yield line, "a second co_await in the same statement"
        await_at = match.start() - start
        conditions = list(_conditions(statement))
        if any(begin <= await_at < end for begin, end in conditions):
            yield line, "co_await inside a condition: await into a variable first"
        else:
            # What is left after the conditions that govern the statement.
            statement = statement[max([end for begin, end in conditions if end <= await_at], default=0):]
        if "{" in statement or "}" in statement:
            yield line, "braces in a statement with co_await: name the object first"
        if "?" in statement:
            yield line, "?: in a statement with co_await"
        if "&&" in statement.replace("auto&&", "") or "||" in statement:
            yield line, "&& or || in a statement with co_await"


def _in_function(statement):
    return "asio::awaitable<void> f() {\n    " + statement + "\n}\n"


SAMPLES = [
    ("src/a.cpp", _in_function("auto x = co_await g(std::move(named));\n    if (x) co_return;"), 0),
    ("src/a.cpp", _in_function("if (ready) co_await g();\n    else { co_await h(); }"), 0),
    ("src/a.cpp", _in_function("if (linger || !input.empty()) co_await g();"), 0),
    ("src/a.cpp", _in_function("if (ready) co_await (a && b());"), 1),
    ("src/a.cpp", _in_function("T named{1, 2};\n    auto [ec, n] = co_await g(named);"), 0),
    ("src/a.cpp", _in_function("while (true) {\n        co_await g();\n    }\n    co_return co_await h();"), 0),
    ("src/a.cpp", _in_function("// co_await g(T{1}) in a comment\n    log(\"co_await ? {}\");\n    co_await g();"), 0),
    ("src/a.cpp", _in_function("auto work = [](int n) -> asio::awaitable<void> {\n    co_await g(n);\n    };\n    co_await work(1);"), 0),
    ("src/a.cpp", _in_function("try { co_await g(); } catch (const error& e) { failed = true; }\n    auto&& y = co_await h();"), 0),
    ("src/a.cpp", _in_function("switch (a) { case one: co_await g(); break; default: co_await h(); }"), 0),
    ("src/a.cpp", _in_function("for (auto x : {1, 2}) co_await g(x);"), 0),
    ("src/a.cpp", _in_function("co_await g(T{a, b});"), 1),
    ("src/a.cpp", _in_function("T x{co_await g(), 1};"), 1),
    ("src/a.cpp", _in_function("co_await g({a, b});"), 1),
    ("src/a.cpp", _in_function("if (co_await ok()) co_return;"), 1),
    ("src/a.cpp", _in_function("if (!(co_await ok())) { co_return; }"), 1),
    ("src/a.cpp", _in_function("while (co_await more()) { use(); }"), 1),
    ("src/a.cpp", _in_function("auto x = c ? co_await g() : h();"), 1),
    ("src/a.cpp", _in_function("co_await (c ? g() : h());"), 1),
    ("src/a.cpp", _in_function("use(co_await g(), co_await h());"), 1),
    ("src/a.cpp", _in_function("co_await co_spawn(ex, [x] { return f(x); }, use_awaitable);"), 1),
    ("src/a.cpp", _in_function("bool both = first && co_await second();"), 1),
    ("src/a.cpp", _in_function("for (auto i = co_await g(); i < 3; ++i) use(i);"), 1),
]
