#!/usr/bin/env bash
# Installs what the tests need, builds hearonce and runs every test: deploy/test.sh [--quick | --only STEP[,STEP...] | --list]
#
# Without CI=true it leaves out the long steps (asan, tsan, fuzz, tidy, release); with it everything runs, as in .ci/run.
# Each step writes build/test-logs/STEP.log; a red step shows the end of its log, the others go on, and a table closes the run.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

quick_steps="setup whisper format lints shell debug"
all_steps="$quick_steps release asan tsan fuzz tidy"
logs="$PWD/build/test-logs"
jobs="$(nproc)"
fuzz_seconds="${HEARONCE_FUZZ_SECONDS:-20}"

usage() { sed -n '2,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; echo "steps: $all_steps"; }
steps="$quick_steps"
[ "${CI:-}" = true ] && steps="$all_steps"
while [ $# -gt 0 ]; do
    case "$1" in
        --quick) steps="$quick_steps" ;;
        --only) [ $# -ge 2 ] || { usage >&2; exit 2; }
                steps="setup whisper"
                for step in ${2//,/ }; do [[ " $steps " == *" $step "* ]] || steps+=" $step"; done
                shift ;;
        --list) echo "$all_steps"; exit 0 ;;
        -h | --help) usage; exit 0 ;;
        *) usage >&2; exit 2 ;;
    esac
    shift
done
for step in $steps; do
    [[ " $all_steps " == *" $step "* ]] || { echo "test: no step '$step'; there are: $all_steps" >&2; exit 2; }
done

# ---- the steps: each is a function that fails with its command ----

run_setup() { deploy/setup.sh build run test; }

# The local engine's library: the system's where it has one, else Debian's own packages in a private folder.
run_whisper() {
    local prefix
    mkdir -p build
    if prefix="$(deploy/whisper-runtime.sh)"; then
        printf '%s\n' "$prefix" | tail -n 1 >build/whisper-prefix
        echo "libwhisper: $(cat build/whisper-prefix)"
    elif [ "${CI:-}" = true ]; then
        echo "the local engine's library could not be had, and CI does not go without it"
        return 1
    else
        rm -f build/whisper-prefix
        echo "no libwhisper: going on without the local engine and its tests"
    fi
}

run_format() {
    local files
    files="$(git ls-files '*.cpp' '*.hpp' | xargs -r clang-format-19 --dry-run 2>&1 | sed -n 's/:[0-9]*:[0-9]*: warning: .*//p' | sort -u)"
    [ -z "$files" ] || { printf 'not as clang-format-19 writes it, use clang-format-19 -i:\n%s\n' "$files"; return 1; }
}

run_lints() { python3 deploy/lint/self_test.py && python3 deploy/lint/run.py; }

run_shell() {
    local script
    git ls-files '*.sh' .ci/run | while read -r script; do
        bash -n "$script" && shellcheck -x -S warning "$script" || return 1
    done
}

whisper_options() {
    if [ -f build/whisper-prefix ]; then
        echo "-DHEARONCE_WHISPER=ON -DHEARONCE_WHISPER_PREFIX=$(cat build/whisper-prefix)"
    else
        echo "-DHEARONCE_WHISPER=OFF"
    fi
}

configure_preset() {
    # Split into words on purpose.
    # shellcheck disable=SC2046
    cmake --preset "$1" -DHEARONCE_WARNINGS_AS_ERRORS=ON $(whisper_options) "${@:2}"
}

build_preset() { configure_preset "$@" && timeout -k 10 1500 cmake --build --preset "$1" -j "$jobs"; }

test_preset() { timeout -k 10 900 ctest --preset "$1" -j "$jobs" --no-tests=error "${@:2}"; }

run_debug() { build_preset debug && test_preset debug; }
run_asan() { build_preset asan && test_preset asan -LE slow_under_sanitizer; }
run_tsan() { build_preset tsan && test_preset tsan -LE slow_under_sanitizer; }

# The optimised build is the quick start's: what a newcomer gets, with every command that README.md prints.
run_release() { HEARONCE_CMAKE_OPTIONS="-DHEARONCE_WARNINGS_AS_ERRORS=ON" timeout -k 10 1800 python3 test/clients/readme_test.py; }

# Every fuzz target for a moment, from its kept corpus: finds what a careless change broke, not what a long run would.
# -fork would hide a crash's stack; two targets at a time use both cores instead.
run_fuzz() {
    local -a targets
    configure_preset fuzz -DHEARONCE_WHISPER=OFF || return 1
    mapfile -t targets < <(ninja -C build/fuzz -t targets all | sed -n 's/^\([a-z0-9_]*_fuzz\): phony.*/\1/p' | grep -v '^cmake_' | sort -u)
    [ ${#targets[@]} -gt 0 ] || { echo "no fuzz target is there"; return 1; }
    timeout -k 10 1500 cmake --build --preset fuzz -j "$jobs" -t "${targets[@]}" || return 1
    printf '%s\0' "${targets[@]}" | xargs -0 -P "$jobs" -I {} bash -c 'fuzz_one "$@"' _ {} "$fuzz_seconds" || return 1
    echo "${#targets[@]} targets, $fuzz_seconds s each"
}

fuzz_one() {
    local target="$1" seconds="$2" log="build/test-logs/fuzz-$1.log" corpus="build/fuzz/corpus/$1" seeds="test/fuzz/corpus/${1%_fuzz}"
    mkdir -p "$corpus"
    [ -d "$seeds" ] || seeds=
    if timeout -k 10 $((seconds + 120)) "build/fuzz/bin/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="build/fuzz/$target-" "$corpus" ${seeds:+"$seeds"} >"$log" 2>&1; then
        echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") runs"
    else
        echo "FAILED: $target"
        tail -n 60 "$log" | cut -c 1-300
        return 1
    fi
}
export -f fuzz_one

run_tidy() {
    [ -f build/debug/compile_commands.json ] || build_preset debug || return 1
    timeout -k 10 1200 deploy/lint/tidy.sh build/debug "$jobs"
}

# ---- running and reporting ----

mkdir -p "$logs"
table=()
tests_passed=0
tests_failed=0

# What ctest counted goes into the last line; a step without ctest counts as one test.
count_tests() {
    local log="$1" result="$2" line
    line="$(grep -E '^[0-9]+% tests passed, [0-9]+ tests? failed out of [0-9]+' "$log" | tail -n 1)"
    if [ -n "$line" ]; then
        local failed total
        failed="$(sed -E 's/.*passed, ([0-9]+) tests? failed.*/\1/' <<<"$line")"
        total="${line##* }"
        tests_failed=$((tests_failed + failed))
        tests_passed=$((tests_passed + total - failed))
        printf '%s' "$((total - failed)) of $total tests"
        [ "$result" = 0 ] || [ "$failed" -gt 0 ] || tests_failed=$((tests_failed + 1))
    elif [ "$result" = 0 ]; then
        tests_passed=$((tests_passed + 1))
    else
        tests_failed=$((tests_failed + 1))
    fi
}

for step in $steps; do
    log="$logs/$step.log"
    began=$SECONDS
    printf '== %s\n' "$step"
    "run_$step" >"$log" 2>&1 </dev/null
    result=$?
    detail="$(mktemp)"
    count_tests "$log" "$result" >"$detail"
    if [ "$result" = 0 ]; then
        verdict=passed
        { grep -E '^[0-9]+% tests passed' "$log" || tail -n 1 "$log"; } | cut -c 1-200
    else
        verdict=FAILED
        # The reason first: compiler errors and failed tests, then the end of the log.
        grep -nE '(error|FAILED|Failed|\*\*\*)' "$log" | head -n 40 | cut -c 1-300
        printf -- '-- the end of %s\n' "${log#"$PWD"/}"
        tail -n 80 "$log" | cut -c 1-300
    fi
    table+=("$(printf '%-8s %-7s %5d s  %s' "$step" "$verdict" $((SECONDS - began)) "$(cat "$detail")")")
    rm -f "$detail"
    # Nothing after a red setup can say anything true.
    if [ "$result" != 0 ] && { [ "$step" = setup ] || [ "$step" = whisper ]; }; then break; fi
done

printf '\n%s\n' "step     result     time"
printf '%s\n' "${table[@]}"
printf '%-8s %-7s %5d s\n\n' total "" "$SECONDS"
printf '%d passed, %d failed\n' "$tests_passed" "$tests_failed"
[ "$tests_failed" = 0 ]
