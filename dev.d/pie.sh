# ./dev pie: the PHP extension as PIE installs it without a compiler. Sourced by ../dev.

pie_help() {
    cat <<'END'
usage: ./dev pie [--list] [--untried] [PATTERN...]

Builds the PHP extension with hiredis and OpenSSL inside, as PIE downloads it: an archive for each
version of PHP (8.2, 8.4), processor (x86_64, arm64), C library (glibc, musl) and mode of threads
(nts, zts). They come to build/pie. PATTERN chooses archives by their names: './dev pie
"*php8.4-x86_64*"'. Then those for glibc and this machine's processor are tried: the nts ones in a
bare Debian with PHP and without a compiler, the zts ones with a PHP with threads, in eight threads
at once. Debian has no such PHP, so one is built out of its source, once, in some ten minutes.

  --list      prints the names of the archives, and builds nothing
  --untried   only builds

$DUEQ_JOBS is the number of compilers. zig, a C compiler from PyPI, builds for all systems. For PHP
8.3 and 8.5, of which Debian has no headers, PIE builds the extension on the user's machine.
END
}

pie() {
    local patterns=() tried=true list=() archive processor php begin=$SECONDS
    while [ $# -gt 0 ]; do
        case $1 in
        -h | --help) pie_help && return ;;
        --list) list=(--list) ;;
        --untried) tried=false ;;
        -*) echo "./dev pie: there is no option $1: see ./dev pie --help" >&2 && return 2 ;;
        *) patterns+=("$1") ;;
        esac
        shift
    done
    setup_packaging
    packaging pie.py "${list[@]}" build/pie "${patterns[@]}"
    [ ${#list[@]} -eq 0 ] || return 0
    if $tried; then
        need_root "./dev pie needs root to try the archives in a bare system; or: --untried"
        need_packages debootstrap git
        processor=$(uname -m)
        for archive in $(packaging pie.py --list build/pie "${patterns[@]}"); do
            [[ $archive == *-${processor/aarch64/arm64}-linux-glibc* ]] || continue
            php=${archive#*_php} php=${php%%-*}
            [[ $archive != *-zts.tgz ]] || (php_with_threads "$php")
            if [[ $archive == *-zts.tgz && ! -e build/php-threads/$php.tar ]]; then
                echo "pie: $archive: not tried: this mirror of Debian has no source of PHP $php"
                continue
            fi
            (try_pie "build/pie/$archive" "$php")
            echo "pie: $archive: ok"
        done
    fi
    echo "pie: archives=$(find build/pie -name '*.tgz' | wc -l) tried=$tried" \
        "seconds=$((SECONDS - begin))"
}

# suite_of PHP: the release of Debian that has this version.
suite_of() { sed -n "/^version = \"$1\"/{n; s/.*\"\(.*\)\"/\1/p}" packaging/php.toml; }

# try_pie ARCHIVE PHP
try_pie() {
    bare_system "$(suite_of "$2")"
    mkdir "$BARE/pie"
    tar -C "$BARE/pie" -xf "$1"
    if [[ $1 == *-zts.tgz ]]; then
        tar -C "$BARE" -xf "build/php-threads/$2.tar"
        in_bare_system bash -euo pipefail /dueq/tests/packaging/zts.sh
    else
        in_bare_system bash -euo pipefail /dueq/tests/packaging/pie.sh
    fi
}

# php_with_threads PHP: makes build/php-threads/PHP.tar, unless the mirror has no source of PHP.
php_with_threads() {
    local made=build/php-threads/$1.tar code=0 log=build/log/php-threads.log
    [ ! -e "$made" ] || return 0
    bare_system "$(suite_of "$1")"
    mkdir -p build/php-threads
    in_bare_system bash -euo pipefail /dueq/packaging/php_threads.sh "$1" \
        "${DUEQ_JOBS:-$(nproc)}" >"$log" 2>&1 || code=$?
    case $code in
    0) tar -C "$BARE" -cf "$made.new" opt/php && mv "$made.new" "$made" ;;
    75) ;;
    *) tail -n 25 "$log" && exit 1 ;;
    esac
}
