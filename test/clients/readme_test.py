#!/usr/bin/env python3
"""Runs what README.md prints, as printed: readme_test.py [--write [GATEWAY] | --table GATEWAY]

Starts deploy/quickstart.sh on a free port, runs every ```sh and ```js block against it (only the port differs), compares the table
of settings with what the gateway says, then presses Ctrl-C. Blocks marked ```sh offline need a key or another machine: their
programs must exist and their settings be right. --write renews the table of settings in README.md, --table only compares it.
"""
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
GATEWAY = ROOT / "build/quickstart/bin/hearonce"
BUILD_SECONDS = 1500
LIVE = " (SIGHUP changes it.)"
BEGIN, END = "<!-- settings: made by test/clients/readme_test.py --write -->\n", "<!-- end of settings -->"
passed = failed = 0


def verdict(what, good, why=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    print(f"{'ok    ' if good else 'FAILED'} {what}" + (f"\n{why}" if not good and why else ""), flush=True)


def blocks(text):
    return re.findall(r"^```(\w+(?: offline)?)\n(.*?)^```$", text, re.M | re.S)


def run(command, seconds=120, **options):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=seconds, stdin=subprocess.DEVNULL, **options)


# ---- the table of settings ----

def settings_table(gateway):
    """`config show --defaults` as a Markdown table: a comment with the meaning, then the key."""
    shown = run([gateway, "config", "show", "--defaults"])
    if shown.returncode != 0:
        raise SystemExit(f"hearonce config show --defaults: {shown.stderr}")
    rows, about = [], ""
    for line in shown.stdout.splitlines():
        words = re.match(r"# ([a-z_A-Z.]+) = \.\.\.  # default: (.*)$", line)
        value = re.match(r"(?:# )?([a-z_A-Z.]+) = (.*)$", line)
        if words or value:
            key, default = (words or value).groups()
            rows.append((key, default if words else f"`{default}`", about.replace(LIVE, " ↻")))
        elif line.startswith("# "):
            about = line[2:].replace("|", "\\|")
    assert len(rows) > 30, f"only {len(rows)} settings were understood"
    return "| key | default | meaning |\n| --- | --- | --- |\n" + "".join(f"| `{k}` | {d} | {a} |\n" for k, d, a in rows)


def check_table(gateway):
    text = README.read_text()
    verdict("the table of settings is true", settings_table(gateway) == text.split(BEGIN)[1].split(END)[0],
            "renew it: test/clients/readme_test.py --write")


def write_table(gateway):
    before, rest = README.read_text().split(BEGIN)
    README.write_text(before + BEGIN + settings_table(gateway) + END + rest.split(END)[1])


# ---- the commands ----

def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def clean_environment():
    """Without keys, so that nothing here can reach a provider, and without anybody's settings."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("HEARONCE_") and k not in ("OPENAI_API_KEY", "GEMINI_API_KEY")}
    kept.update({k: v for k, v in os.environ.items() if k in ("HEARONCE_CMAKE_OPTIONS", "HEARONCE_WHISPER_CACHE")})
    return kept


def start_quickstart(port, log):
    began = time.monotonic()
    process = subprocess.Popen([ROOT / "deploy/quickstart.sh", "--port", str(port)], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log,
                               stderr=subprocess.STDOUT, env=clean_environment(), start_new_session=True)
    while time.monotonic() - began < BUILD_SECONDS:
        if process.poll() is not None:
            return process, False
        if f"listening on http://127.0.0.1:{port}" in Path(log.name).read_text(errors="replace"):
            return process, True
        time.sleep(0.2)
    return process, False


def check_sh(command, port):
    command = command.replace("127.0.0.1:8080", f"127.0.0.1:{port}")
    environment = {**clean_environment(), "HEARONCE_URL": f"http://127.0.0.1:{port}"}
    ended = subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=120,
                           stdin=subprocess.DEVNULL, env=environment)
    expected = "hearonce; hit" if "cache-status" in command else "hello world"
    verdict(command.strip(), ended.returncode == 0 and expected in ended.stdout, f"exit {ended.returncode}: {ended.stdout}{ended.stderr}")


def gateway_complaint(words, environment, folder):
    """Why the gateway does not take these words; None when it does. `token` is run for real, so that `serve` reads what it wrote."""
    if words[0] == "serve":
        settings = [re.sub(r"/path/to/\S+\.bin$", f"{ROOT}/test/data/ggml-micro.en.bin", word) for word in words[1:]]
        asked, expected = [["config", "check", *settings]], ""
    elif words[0] == "token":
        asked, expected = [words, ["token", "list", *words[3:]]], words[2]
    else:
        # The help for what is no subcommand is that of the whole program.
        asked, expected = [[*words[:2], "--help"]], "Usage: hearonce " + " ".join(words[:2])
    for one in asked:
        ended = subprocess.run([GATEWAY, *one], cwd=folder, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, env=environment)
        if ended.returncode != 0:
            return ended.stdout + ended.stderr
    return None if expected in ended.stdout else f"'{expected}' is not in: {ended.stdout}"


def check_offline(command):
    """Scripts and presets it names exist, and the gateway takes every subcommand, setting and variable."""
    with tempfile.TemporaryDirectory() as folder:
        for line in command.strip().splitlines():
            words = shlex.split(re.sub(r"\$\([^)]*\)", "", line.split(">>")[0]))
            environment, why = clean_environment(), ""
            while words and re.match(r"[A-Z_]+=", words[0]):
                name, value = words.pop(0).split("=", 1)
                environment[name] = value
            if words[0].endswith("bin/hearonce"):
                why = gateway_complaint(words[1:], environment, folder)
                good = why is None
            elif words[0] == "cmake":
                presets = run(["cmake", "--list-presets=all"]).stdout
                good = f'"{words[words.index("--preset") + 1]}"' in presets
            else:
                good = os.access(ROOT / words[0], os.X_OK)
            verdict(line, good, why)


def check_js(code, port):
    clients = ROOT / "test/clients"
    code = code.replace("127.0.0.1:8080", f"127.0.0.1:{port}").replace("from 'openai'", "from 'openai7'")
    node = clients / "node_modules/node22/bin/node"
    with tempfile.NamedTemporaryFile("w", suffix=".mjs", dir=clients, prefix=".readme-") as file:
        file.write(code)
        file.flush()
        ended = run([node if node.exists() else "node", file.name])
    verdict("the JavaScript example", ended.stdout.strip() == "hello world", ended.stdout + ended.stderr)


def check_running(port, log_path):
    log = Path(log_path).read_text()
    printed = re.search(r"^\s*(curl http\S+ .*)$", log, re.M)
    verdict("quickstart prints a curl line", printed, log)
    if printed:
        elsewhere = subprocess.run(["bash", "-c", printed.group(1)], cwd="/", capture_output=True, text=True, timeout=60)
        verdict("the printed curl line works from any folder", '"hello world"' in elsewhere.stdout, elsewhere.stdout + elsewhere.stderr)
    for kind, text in blocks(README.read_text()):
        if kind == "sh" and text.strip() not in ("deploy/quickstart.sh", "deploy/test.sh"):
            check_sh(text, port)
        elif kind == "sh offline":
            check_offline(text)
        elif kind == "js":
            check_js(text, port)
    second = run([ROOT / "deploy/quickstart.sh", "--port", str(port)])
    verdict("a port in use: exit 2 and a line that names it", second.returncode == 2 and f"port {port} is in use" in second.stderr, second.stderr)
    direct = run([GATEWAY, "serve", "--set", f"server.listen=127.0.0.1:{port}", "--set", f"backends.local.model={ROOT}/test/data/ggml-micro.en.bin"])
    verdict("serve on a port in use: exit 2 and one line", direct.returncode == 2 and str(port) in direct.stderr, direct.stderr)


def main():
    if "--write" in sys.argv:
        return write_table(GATEWAY if sys.argv[-1] == "--write" else Path(sys.argv[-1]).resolve())
    if "--table" in sys.argv:
        check_table(Path(sys.argv[sys.argv.index("--table") + 1]).resolve())
    else:
        port = free_port()
        installed = run([ROOT / "test/clients/install.sh"], 400)
        verdict("the clients are installed", installed.returncode == 0, installed.stdout + installed.stderr)
        with tempfile.NamedTemporaryFile("w", prefix="hearonce-quickstart-", suffix=".log") as log:
            process, listening = start_quickstart(port, log)
            verdict("deploy/quickstart.sh listens", listening, Path(log.name).read_text()[-4000:])
            try:
                if listening:
                    check_table(GATEWAY)
                    check_running(port, log.name)
                    # What Ctrl-C in a terminal does: the signal goes to the whole foreground group.
                    os.killpg(process.pid, signal.SIGINT)
                    verdict("Ctrl-C ends it with exit 0", process.wait(30) == 0, f"exit {process.returncode}\n" + Path(log.name).read_text()[-3000:])
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
