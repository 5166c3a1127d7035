#!/usr/bin/env bash
# Runs clang-tidy over hearonce's own sources as one build knows them: deploy/lint/tidy.sh BUILD_DIRECTORY [JOBS]
#
# Reads BUILD_DIRECTORY/compile_commands.json; tests and benchmarks are left out, they pay the compile time and find little.
# A file is looked at again only if it, a header of ours, or the list of checks changed: the stamps are in BUILD_DIRECTORY/tidy.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build="$1"
jobs="${2:-$(nproc)}"
[ -f "$build/compile_commands.json" ] || { echo "tidy: no $build/compile_commands.json: configure first"; exit 1; }
stamps="$build/tidy"
mkdir -p "$stamps"

# One file: quiet when clean.
check() {
    local build="$1" stamps="$2" headers="$3" file="$4" stamp output
    stamp="$stamps/$({ echo "$headers"; cat "$file"; } | sha256sum | cut -c 1-32)"
    [ ! -e "$stamp" ] || return 0
    if output="$(clang-tidy-19 --quiet -p "$build" --extra-arg=-Wno-unknown-warning-option "$file" 2>&1)"; then
        : >"$stamp"
    else
        printf '%s\n' "$output" | grep -vE '^[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -header-filter' | head -n 60
        return 1
    fi
}
export -f check

root="$PWD"
headers="$({ clang-tidy-19 --version; cat .clang-tidy; git ls-files 'include/*.hpp' 'src/*.hpp' 'backends/*.hpp' | xargs cat; } | sha256sum)"
mapfile -t files < <(python3 - "$build/compile_commands.json" "$root" <<'PYTHON'
import json, sys
root = sys.argv[2] + "/"
named = {entry["file"] for entry in json.load(open(sys.argv[1]))}
for path in sorted(named):
    if path.startswith((root + "src/", root + "backends/")) and "/separate/" not in path:
        print(path)
PYTHON
)
[ ${#files[@]} -gt 0 ] || { echo "tidy: $build compiles none of our files"; exit 1; }
printf '%s\0' "${files[@]}" | xargs -0 -P "$jobs" -I {} bash -c 'check "$@"' _ "$build" "$stamps" "$headers" {} || { echo "tidy: findings above"; exit 1; }
echo "tidy: ${#files[@]} files are clean"
