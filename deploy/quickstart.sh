#!/usr/bin/env bash
# From a fresh machine to a running gateway: deploy/quickstart.sh [--listen ADDRESS | --port PORT] [more options of hearonce serve]
#
# Installs what is missing, builds, and starts `hearonce serve` with the local engine and the small test model that ships with
# the source (45 words of English: enough to try everything without a key or a download). Ctrl-C ends it.
# An OPENAI_API_KEY or GEMINI_API_KEY in the environment adds those backends; every HEARONCE_* setting is passed on.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
say() { printf 'quickstart: %s\n' "$*" >&2; }
die() { say "$*"; exit 2; }

listen="${HEARONCE_SERVER__LISTEN:-127.0.0.1:8080}"
options=()
while [ $# -gt 0 ]; do
    case "$1" in
        --port) [ $# -ge 2 ] || die "--port wants a number"; listen="127.0.0.1:$2"; shift 2 ;;
        --port=*) listen="127.0.0.1:${1#*=}"; shift ;;
        --listen) [ $# -ge 2 ] || die "--listen wants ADDRESS:PORT"; listen="$2"; shift 2 ;;
        --listen=*) listen="${1#*=}"; shift ;;
        -h | --help) sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
        *) options+=("$1"); shift ;;
    esac
done

# Before the minutes of building: is the port free? bash's own connect is enough to see a listener.
host="${listen%:*}"
port="${listen##*:}"
if ! [[ "$port" =~ ^[0-9]{1,5}$ ]] || [ "$port" -gt 65535 ]; then die "'$listen' is not ADDRESS:PORT"; fi
if [ "$port" != 0 ] && (exec 3<>"/dev/tcp/${host//[\[\]]/}/$port") 2>/dev/null; then
    die "port $port is in use; stop what listens there, or choose another: deploy/quickstart.sh --port $((port + 1))"
fi

"$root/deploy/setup.sh" build run || exit 1

cmake_options=(-DHEARONCE_TESTS=OFF -DHEARONCE_BENCH=OFF)
serve_options=(--set "server.listen=$listen")
model="$root/test/data/ggml-micro.en.bin"
if prefix="$("$root/deploy/whisper-runtime.sh")"; then
    cmake_options+=(-DHEARONCE_WHISPER=ON "-DHEARONCE_WHISPER_PREFIX=$(tail -n 1 <<<"$prefix")")
    serve_options+=(--set backends.local.kind=whisper --set "backends.local.model=$model" --set backends.local.no_context=true)
    # Naming one backend switches the automatic ones off, so the cloud ones are named too where a key is there.
    [ -z "${OPENAI_API_KEY:-}" ] || serve_options+=(--set backends.openai.kind=openai)
    [ -z "${GEMINI_API_KEY:-}" ] || serve_options+=(--set backends.gemini.kind=gemini)
else
    say "the local engine's library could not be had (see above): going on with the cloud backends alone"
    cmake_options+=(-DHEARONCE_WHISPER=OFF)
    [ -n "${OPENAI_API_KEY:-}${GEMINI_API_KEY:-}" ] || die "without the local engine a key is needed: set OPENAI_API_KEY or GEMINI_API_KEY and start again"
fi

say "building (some minutes the first time; the log is build/quickstart.log)"
mkdir -p "$root/build"
# More of CMake's options may come from outside, split into words on purpose.
# shellcheck disable=SC2206
cmake_options+=(${HEARONCE_CMAKE_OPTIONS:-})
if ! { (cd "$root" && cmake --preset release -B build/quickstart "${cmake_options[@]}") &&
    cmake --build "$root/build/quickstart" -j "$(nproc)"; } >"$root/build/quickstart.log" 2>&1; then
    tail -n 30 "$root/build/quickstart.log" >&2
    die "the build failed; the lines above say why"
fi

at="$listen"
case "$host" in 0.0.0.0 | '[::]') at="127.0.0.1:$port" ;; esac
[ "$port" != 0 ] || say "port 0 is whichever is free: read it from the line 'listening on' below"
cat >&2 <<END

Starting hearonce on http://$at (Ctrl-C ends it). In another terminal:

    curl http://$at/v1/audio/transcriptions -F file=@"$root/test/data/wav/hello-world.wav"

Send it again with -i: the Cache-Status line says that the second answer cost nothing.

END
exec "$root/build/quickstart/bin/hearonce" serve "${serve_options[@]}" ${options[@]+"${options[@]}"}
