#!/usr/bin/env bash
# Runs one test file with the Node.js release it wants: run.sh GATEWAY NODE_RELEASE FILE [CLIENT]     (run.sh build/debug/bin/hearonce 22 openai.test.mjs openai7)
set -euo pipefail
export HEARONCE_BINARY OPENAI_CLIENT="${4:-}" GENAI_CLIENT="${4:-}"
HEARONCE_BINARY="$(realpath "$1")"
cd "$(dirname "${BASH_SOURCE[0]}")"
node="node_modules/node$2/bin/node"
# The packages are for x86-64; elsewhere the system's Node.js has to do.
"$node" --version >/dev/null 2>&1 || node=node
exec "$node" --test --test-reporter=spec --test-timeout=100000 "$3"
