#!/bin/sh
# Gets libwhisper (whisper.cpp) and what it needs, for systems whose own release does not package it.
#
# Debian's newer packages are fetched through a private apt root from the mirror this machine's apt already uses, checked
# with this machine's keyring, and unpacked into a folder of their own: nothing is installed, the system's apt state is
# not touched. The C and C++ runtime they were built for comes along; the helper is linked to it with its own loader.
#
# Prints the folder to give to CMake as -DHEARONCE_WHISPER_PREFIX=... on stdout (/usr where the system's own package is
# used); everything else goes to stderr. Quick and without the network when the folder is there already.
#
#   deploy/whisper-runtime.sh                the cached folder, made if need be
#   deploy/whisper-runtime.sh --refresh      look for newer versions even if one is there
#   deploy/whisper-runtime.sh --into DIR     also copy it to DIR (a package's fixed place), and print DIR
#
# HEARONCE_WHISPER_CACHE    where folders are kept (default ${XDG_CACHE_HOME:-$HOME/.cache}/hearonce/whisper)
# HEARONCE_WHISPER_SUITES   suites to look in, in this order (default "testing unstable")
# HEARONCE_WHISPER_KEYRING  keyring to check signatures with (default the machine's Debian archive keyring)
set -eu

refresh=no into=
while [ $# -gt 0 ]; do
  case $1 in
    --refresh) refresh=yes ;;
    --into) into=${2:?--into needs a folder}; shift ;;
    -h|--help) sed -n '2,/^set -eu/{/^set/!s/^# \{0,1\}//p}' "$0"; exit 0 ;;
    *) echo "whisper-runtime: unknown argument '$1', see --help" >&2; exit 2 ;;
  esac
  shift
done

cache=${HEARONCE_WHISPER_CACHE:-${XDG_CACHE_HOME:-${HOME:?HOME is not set: set HEARONCE_WHISPER_CACHE}/.cache}/hearonce/whisper}
suites=${HEARONCE_WHISPER_SUITES:-testing unstable}
say() { echo "whisper-runtime: $*" >&2; }
fail() { say "$*"; exit 1; }

finish() { # folder
  if [ -n "$into" ]; then
    { mkdir -p "$into" && cp -a "$1/." "$into/"; } || fail "cannot copy to $into"
    set -- "$into"
  fi
  echo "$1"
  exit 0
}

# The system's own package is better than a private copy. An old one without flash attention does not do.
system_has_it() { [ -e /usr/include/whisper.h ] && grep -q flash_attn /usr/include/whisper.h; }
if system_has_it; then
  say "using the system's libwhisper"
  into=; finish /usr
fi

current=$cache/current
if [ "$refresh" = no ] && [ -e "$current/complete" ]; then finish "$(readlink -f "$current")"; fi

for tool in apt-get apt-config apt-cache dpkg dpkg-deb; do
  command -v "$tool" >/dev/null || fail "needs $tool: this script is for Debian and its relatives; elsewhere build whisper.cpp and set HEARONCE_WHISPER_PREFIX"
done

if apt-cache policy libwhisper-dev 2>/dev/null | grep -q 'Candidate: [0-9]'; then
  if [ "$(id -u)" = 0 ]; then
    say "this release packages libwhisper: installing it"
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends libwhisper-dev >&2 || fail "apt-get install libwhisper-dev failed"
    system_has_it && { into=; finish /usr; }
    say "the release's libwhisper is too old, getting a newer one"
  else
    fail "this release packages libwhisper: run 'apt-get install libwhisper-dev' as root"
  fi
fi

mkdir -p "$cache" || fail "cannot make $cache"
exec 9>"$cache/.lock"
if command -v flock >/dev/null; then flock -w 600 9 || fail "another run holds $cache/.lock"; fi
if [ "$refresh" = no ] && [ -e "$current/complete" ]; then finish "$(readlink -f "$current")"; fi

root=$(mktemp -d "$cache/.apt.XXXXXX")
trap 'rm -rf "$root"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
chmod 755 "$root"
mkdir -p "$root/lists/partial" "$root/archives/partial" "$root/none"
: >"$root/status"

# Mirrors of this machine, the security archive left out: it has no newer suites.
# shellcheck disable=SC2016  # apt's own placeholder.
mirrors=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | grep -v security | sort -u || true)
[ -n "$mirrors" ] || fail "apt on this machine has no package sources"

keyring=${HEARONCE_WHISPER_KEYRING:-}
if [ -z "$keyring" ]; then
  for file in /usr/share/keyrings/debian-archive-keyring.gpg /usr/share/keyrings/debian-archive-keyring.pgp; do
    if [ -z "$keyring" ] && [ -r "$file" ]; then keyring=$file; fi
  done
fi
[ -n "$keyring" ] || fail "no Debian archive keyring: install debian-archive-keyring or set HEARONCE_WHISPER_KEYRING"

# The machine's settings for fetching (proxies, time-outs) stay; its hooks, sources and pins do not take part.
{
  apt-config dump | grep -E '^(Acquire::|APT::Architecture )' | grep -v '^Acquire::IndexTargets' || true
  cat <<CONF
Dir::State "$root";
Dir::State::status "$root/status";
Dir::Cache "$root";
Dir::Etc::sourcelist "$root/sources.list";
Dir::Etc::sourceparts "$root/none";
Dir::Etc::parts "$root/none";
Dir::Etc::main "$root/none.conf";
Dir::Etc::preferences "$root/none.pref";
Dir::Etc::preferencesparts "$root/none";
Acquire::Languages "none";
Acquire::Retries "3";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Debug::NoLocking "true";
APT::Install-Recommends "false";
APT::Install-Suggests "false";
APT::Get::Assume-Yes "true";
CONF
} >"$root/apt.conf"
export APT_CONFIG="$root/apt.conf"

# Runs a command up to three times; its words are shown only if every try failed.
persist() {
  for pause in 2 5 0; do
    if "$@" >"$root/log" 2>&1; then return 0; fi
    sleep "$pause"
  done
  grep -E '^(E|W|Err):?' "$root/log" | tail -5 | sed 's/^/whisper-runtime:   /' >&2
  return 1
}

found=
for mirror in $mirrors; do
  for suite in $suites; do
    echo "deb [signed-by=$keyring] $mirror $suite main" >"$root/sources.list"
    say "looking for libwhisper-dev in $mirror $suite"
    persist apt-get -q update -o APT::Update::Error-Mode=any || { say "cannot read $mirror $suite"; continue; }
    if apt-cache policy libwhisper-dev | grep -q 'Candidate: [0-9]'; then found="$mirror $suite"; break 2; fi
    say "not packaged there"
  done
done
[ -n "$found" ] || fail "no mirror of this machine's apt offers libwhisper-dev in: $suites. The cloud backends work without it"

# apt resolves names and versions; a folder is named after the ones that matter.
version_of() { apt-cache policy "$1" | sed -n 's/^ *Candidate: *//p' | tr ':~' '__'; }
name="whisper-$(version_of libwhisper-dev)_ggml-$(version_of libggml-dev)_libc-$(version_of libc6)_$(dpkg --print-architecture)"
final=$cache/$name
if [ ! -e "$final/complete" ]; then
  say "fetching $name"
  persist apt-get -q --download-only install libwhisper-dev || fail "the packages could not be fetched from $found"
  mkdir "$root/prefix"
  for package in "$root"/archives/*.deb; do
    dpkg -x "$package" "$root/prefix" || fail "cannot unpack $(basename "$package")"
  done
  # Documentation, locales and character set tables are of no use here.
  rm -rf "$root/prefix/usr/share" "$root/prefix/etc" "$root/prefix/var" "$root"/prefix/usr/lib/*/gconv
  lib=$(dirname "$(find "$root/prefix/usr/lib" -name 'libwhisper.so' | head -n 1)")
  loader=$(find "$lib" -maxdepth 1 -name 'ld-linux*.so.*' | head -n 1)
  { [ -n "$loader" ] && [ -d "$lib/ggml" ]; } || fail "the packages of $found are laid out in an unknown way"
  missing=$("$loader" --library-path "$lib" --list "$lib/libwhisper.so" 2>&1 | grep -E 'not found|error' || true)
  [ -z "$missing" ] || fail "the packages of $found do not fit together: $missing"
  (cd "$root/archives" && printf '%s\n' *.deb) >"$root/prefix/complete"
  rm -rf "$final"
  mv -T "$root/prefix" "$final"
fi
ln -sfn "$name" "$cache/.current.$$" && mv -T "$cache/.current.$$" "$current"
finish "$final"
