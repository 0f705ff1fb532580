# ./dev pie: the PHP extension as PIE installs it without a compiler. Sourced by ../dev.

pie_help() {
    cat <<'END'
usage: ./dev pie [--list] [--untried] [PATTERN...]

Builds the PHP extension with hiredis and OpenSSL inside, as PIE downloads it: an archive for each
version of PHP (8.2, 8.4), processor (x86_64, arm64), C library (glibc, musl) and mode of threads
(nts, zts). They come to build/pie. PATTERN chooses archives by their names: './dev pie
"*php8.4-x86_64*"'. Then those for this machine's processor are tried in a bare Debian: with
Debian's PHP and without a compiler, and where Debian has no such PHP (with threads, or for musl),
with one that is built out of Debian's source, once, in some five minutes each. Those with threads
run in eight threads at once. Those for arm64 and glibc, without threads, run by qemu-user-static,
where it is installed, with Debian's PHP.

  --list      prints the names of the archives, and builds nothing
  --untried   only builds

$DUEQ_JOBS is the number of compilers. zig, a C compiler from PyPI, builds for all systems. For PHP
8.3 and 8.5, of which Debian has no headers, PIE builds the extension on the user's machine.
END
}

pie() {
    local patterns=() tried=true list=() archive processor php kind begin=$SECONDS
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
            if [[ $archive != *-${processor/aarch64/arm64}-linux-* ]]; then
                [[ $archive != *-arm64-linux-glibc.tgz ]] || try_emulated "build/pie/$archive"
                continue
            fi
            php=${archive#*_php} php=${php%%-*}
            kind=${archive#*-linux-} kind=${kind%.tgz}
            [ "$kind" = glibc ] ||
                (from_source "$(suite_of "$php")" "php-$php-$kind" php.sh "$php" "$kind")
            if [ "$kind" != glibc ] && [ ! -e "build/from-source/php-$php-$kind.tar" ]; then
                echo "pie: $archive: not tried: this mirror of Debian has no source of PHP $php"
                continue
            fi
            (try_pie "build/pie/$archive" "$php" "$kind")
            echo "pie: $archive: ok"
        done
    fi
    echo "pie: archives=$(find build/pie -name '*.tgz' | wc -l) tried=$tried" \
        "seconds=$((SECONDS - begin))"
}

# suite_of PHP: the release of Debian that has this version.
suite_of() { sed -n "/^version = \"$1\"/{n; s/.*\"\(.*\)\"/\1/p}" packaging/php.toml; }

# try_pie ARCHIVE PHP KIND
try_pie() {
    bare_system "$(suite_of "$2")"
    mkdir "$BARE/pie"
    tar -C "$BARE/pie" -xf "$1"
    if [ "$3" = glibc ]; then
        in_bare_system bash -euo pipefail /dueq/tests/packaging/pie.sh
    else
        tar -C "$BARE" -xf "build/from-source/php-$2-$3.tar"
        in_bare_system bash -euo pipefail /dueq/tests/packaging/built_php.sh "${3%-zts}"
    fi
}
