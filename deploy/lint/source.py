"""One file of the tree as the lints see it: its path, its text, and its C++ without comments and literals."""
import re
import subprocess
from pathlib import Path

CPP = (".cpp", ".hpp")


def tracked(root):
    """The paths, relative to root, of what git holds or would take; without git, of what is there outside build folders."""
    git = subprocess.run(["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard"], capture_output=True, text=True)
    if git.returncode == 0:
        return sorted(p for p in set(git.stdout.splitlines()) if (root / p).is_file())
    skipped = {"build", "node_modules", ".git"}
    paths = (p.relative_to(root) for p in root.rglob("*") if p.is_file())
    return sorted(str(p) for p in paths if not skipped & set(p.parts))


class Source:
    def __init__(self, path, text, root=None):
        self.path = path
        self.text = text
        self.root = root  # None for a sample of the self-test
        self._code = None

    @classmethod
    def read(cls, root, path):
        """None for what is no text."""
        data = (Path(root) / path).read_bytes()
        if b"\0" in data[:8192]:
            return None
        try:
            return cls(path, data.decode("utf-8"), Path(root))
        except UnicodeDecodeError:
            return None

    @property
    def is_cpp(self):
        return self.path.endswith(CPP)

    @property
    def lines(self):
        return self.text.splitlines()

    @property
    def code(self):
        """The text with comments and the insides of literals blanked, so that offsets and lines stay the same."""
        if self._code is None:
            self._code = TOKEN.sub(_blank, self.text)
        return self._code

    def line_of(self, offset):
        return self.text.count("\n", 0, offset) + 1

    def under(self, *folders):
        return self.path.startswith(tuple(f + "/" for f in folders))


# Raw strings first: they may hold what looks like the others. A digit separator (1'000) is no character literal.
TOKEN = re.compile(
    r"""(?P<raw>R"(?P<delimiter>[^()\s\\]{0,16})\(.*?\)(?P=delimiter)")
      | (?P<comment>//[^\n]* | /\*.*?\*/)
      | (?P<string>"(?:\\.|[^"\\\n])*")
      | (?P<char>(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+')""",
    re.S | re.X,
)


def _blank(match):
    text = match.group(0)
    if match.group("comment"):
        return re.sub(r"[^\n]", " ", text)
    if len(text) < 2:
        return text
    return text[0] + re.sub(r"[^\n]", " ", text[1:-1]) + text[-1]
