# The fuzz targets of tests/fuzz under libFuzzer, ASan and UBSan: ./dev fuzz [NAME...] [--seconds N]
# Sourced by ../dev.
#
# libFuzzer keeps inputs that reach new code in build/fuzz/corpus/NAME, and the next run starts from
# them. An input that breaks something goes to build/fuzz/findings.

fuzz() {
    local known name seconds=60 names=() findings=0
    known=$(cd tests/fuzz/corpus && echo *)
    while [ $# -gt 0 ]; do
        case $1 in
        --seconds)
            seconds=${2-}
            [ $# -lt 2 ] || shift
            ;;
        *) names+=("$1") ;;
        esac
        shift
    done
    if ! [[ $seconds =~ ^[1-9][0-9]*$ ]]; then
        echo "--seconds needs a whole number: the seconds for each target" >&2
        exit 2
    fi
    for name in "${names[@]}"; do
        [[ " $known " == *" $name "* ]] || { echo "the targets are: $known" >&2; exit 2; }
    done
    [ ${#names[@]} -gt 0 ] || read -ra names <<<"$known"

    setup_fuzz
    mkdir -p build/log build/fuzz/findings
    export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1
    ASAN_OPTIONS+=:allocator_may_return_null=1:max_allocation_size_mb=64
    export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
    for name in "${names[@]}"; do
        fuzz_one "$name" "$seconds" || findings=$((findings + 1))
    done
    echo "fuzz: targets=${#names[@]} seconds=$seconds findings=$findings"
    [ "$findings" -eq 0 ]
}

fuzz_one() {
    local name=$1 seconds=$2 log=build/log/fuzz-$1.log begin=$EPOCHREALTIME
    mkdir -p "build/fuzz/corpus/$name"
    if ! "build/fuzz/$name" -max_total_time="$seconds" -timeout=10 -max_len=4096 \
        -malloc_limit_mb=0 -print_final_stats=1 \
        -artifact_prefix="build/fuzz/findings/$name-" \
        "build/fuzz/corpus/$name" "tests/fuzz/corpus/$name" >"$log" 2>&1 </dev/null; then
        echo "  $name: a finding. From $log:" >&2
        grep -aE -m 1 -A 12 'ERROR|runtime error|does not hold' "$log" >&2 || tail -n 25 "$log" >&2
        grep -a 'Test unit written' "$log" >&2 || true
        return 1
    fi
    printf '  %-28s %5.1f s  %s inputs\n' "$name" "$(seconds_since "$begin")" \
        "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
}

setup_fuzz() {
    need_packages gcc libc6-dev pkg-config libhiredis-dev libssl-dev libjson-c-dev \
        libmicrohttpd-dev clang
    # The libraries of the sanitizers are a separate package, of the same version as clang.
    local major
    major=$(clang -dumpversion | cut -d. -f1)
    need_packages "libclang-rt-$major-dev"
    steps fuzz_targets
}
