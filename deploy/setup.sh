#!/usr/bin/env bash
# Installs the Debian or Ubuntu packages that hearonce needs: deploy/setup.sh [build|run|test]...   (no argument: build)
#
# Holds the one list of packages; quickstart.sh and test.sh call it. Running it again costs a few milliseconds: what is
# there is found with dpkg-query and apt is not touched. It needs root or sudo only if something is missing.
set -euo pipefail

say() { printf 'setup: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# One package a word; a|b|c takes the first that is installed, else the first that can be had; a? is left out where it cannot be had.
compiler="clang-19 lld-19 ccache ninja-build cmake pkg-config git ca-certificates"

# Boost by its versioned names: Debian 12's unversioned libboost-dev is 1.74, too old, and conflicts with 1.81.
boost_versions="1.81 1.83 1.88 1.90 1.92"

# prometheus-cpp's CMake files look for zlib and curl although only its core is linked; spdlog's look for fmt.
libraries="libssl-dev libcli11-dev libtomlplusplus-dev libspdlog-dev libfmt-dev prometheus-cpp-dev zlib1g-dev libcurl4-openssl-dev|libcurl4-gnutls-dev
           libseccomp-dev"

# The local engine: decoding, and whisper.cpp where this release packages it; elsewhere deploy/whisper-runtime.sh gets it.
media="libavformat-dev libavcodec-dev libswresample-dev libavutil-dev libwhisper-dev?"

run="ca-certificates curl"
test="ffmpeg libbenchmark-dev clang-tidy-19 clang-format-19 libclang-rt-19-dev llvm-19 python3 curl openssl jq shellcheck procps"

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
available() { [ -n "$(apt-cache policy "$1" 2>/dev/null | sed -n 's/^  Candidate: \((none)\)\{0,1\}//p')" ]; }

# The Boost that is there, else the oldest that can be had and is new enough.
boost_version() {
    local version
    for version in $boost_versions; do
        if installed "libboost$version-dev"; then echo "$version"; return; fi
    done
    for version in $boost_versions; do
        if available "libboost$version-dev"; then echo "$version"; return; fi
    done
}

choose() {
    local package
    local -a names
    IFS='|' read -ra names <<<"$1"
    for package in "${names[@]}"; do
        if installed "$package"; then echo "$package"; return; fi
    done
    for package in "${names[@]}"; do
        if available "$package"; then echo "$package"; return; fi
    done
    echo "${names[0]}"
}

# Lists read once a run; apt-get update is the slow part and only runs when a package is missing.
as_root=()
lists_read=
update_lists() {
    [ -z "$lists_read" ] || return 0
    lists_read=1
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || die "packages are missing: run this as root, or install sudo"
        as_root=(sudo)
    fi
    say "reading the package lists"
    "${as_root[@]}" apt-get update -qq || die "apt-get update failed: is the network there, and are the sources in /etc/apt right?"
}

add_missing() {
    local word package
    for word in "$@"; do
        if [[ "$word" == *'?' ]]; then
            word="${word%\?}"
            available "$word" || continue
        fi
        package="$(choose "$word")"
        installed "$package" || missing+=("$package")
    done
}

need_boost() {
    local version part
    version="$(boost_version)"
    if [ -z "$version" ]; then update_lists; version="$(boost_version)"; fi
    [ -n "$version" ] || die "no Boost of 1.81 or newer among this system's packages (tried $boost_versions)"
    add_missing "libboost$version-dev"
    for part in "$@"; do add_missing "libboost-$part$version-dev"; done
}

# Node.js only runs npm here (the tests bring their own Node.js as npm packages); any way it was installed will do.
need_npm() {
    if command -v node >/dev/null && command -v npm >/dev/null; then return; fi
    add_missing nodejs npm
}

command -v apt-get >/dev/null || die "this system has no apt-get; README.md lists what to install by other means"
[ $# -gt 0 ] || set -- build
find_missing() {
    local group
    missing=()
    for group in "$@"; do
        # The lists above are split into words on purpose.
        # shellcheck disable=SC2086
        case "$group" in
            build) need_boost json url; add_missing $compiler $libraries $media ;;
            run) add_missing $run ;;
            test) need_boost test; need_npm; add_missing $test ;;
            *) die "unknown group '$group': build, run or test" ;;
        esac
    done
}

find_missing "$@"
if [ ${#missing[@]} = 0 ]; then
    say "all packages for $* are here"
    exit 0
fi
update_lists
# What was chosen before the lists were read may be a name this release does not have: choose again.
find_missing "$@"
say "installing ${#missing[@]} packages: ${missing[*]}"
log="$(mktemp)"
trap 'rm -f "$log"' EXIT
if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    die "apt-get could not install them; the lines above say why"
fi
say "installed"
