"""Beast stays in its two units, the server's connection and the outbound client: its templates are slow to compile."""
import re

NAME = "beast"
ALLOWED = re.compile(r"src/server/(connection[a-z_]*|request_parser)\.cpp$|src/net/[a-z_]+\.cpp$|src/separate/|test/|bench/")
BEAST = re.compile(r"#\s*include\s*<boost/beast|\bbeast\s*::")


def check(file):
    if not file.is_cpp or ALLOWED.match(file.path):
        return
    for match in BEAST.finditer(file.code):
        yield file.line_of(match.start()), "Beast outside src/server/connection*.cpp, src/server/request_parser.cpp and src/net/*.cpp"
        return


SAMPLES = [
    ("src/server/connection.cpp", "#include <boost/beast/http.hpp>\n", 0),
    ("src/net/call.cpp", "namespace http = boost::beast::http;\n", 0),
    ("src/net/call.hpp", "#include <boost/beast/http.hpp>\n", 1),
    ("src/http/render.cpp", "boost::beast::http::status s;\n", 1),
    ("src/http/render.cpp", "// says nothing of beast::http\n", 0),
]
