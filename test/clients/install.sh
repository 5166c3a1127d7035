#!/usr/bin/env bash
# Installs the clients under test from package-lock.json, once for every build folder: nothing is done while the lock is unchanged.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
wanted="$(cat package-lock.json package.json | sha256sum | cut -d ' ' -f 1)"
stamp=node_modules/.installed-for
exec 9>.install-lock
flock -w 300 9
[ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ] || { echo "clients: installed"; exit 0; }
for pause in 3 10 0; do
    if npm ci --ignore-scripts --no-audit --no-fund --loglevel=error; then
        echo "$wanted" >"$stamp"
        echo "clients: installed now"
        exit 0
    fi
    sleep "$pause"
done
echo "clients: npm ci failed three times; the lines above say why" >&2
exit 1
