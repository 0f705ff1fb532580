# ./dev release: all that is published of a version, in one folder. Sourced by ../dev.

# The parts, in the order in which they are made. Each is a function release_PART, which puts files
# into a folder.
RELEASE_PARTS=(source sdist composer wheels static pie debs)

release_help() {
    cat <<'END'
usage: ./dev release VERSION [--only PART,...]

Makes all that is published of this commit in build/release/VERSION, tried as ./dev wheels, static,
pie and debs try it:

  source    dueq-VERSION-source.tar.gz
  sdist     the source of the Python package, for pip where no wheel fits
  composer  dueq/worker, dueq/laravel, dueq/symfony-messenger and dueq/stubs: a zip each
  wheels    Python's wheels
  static    the command dueq as one file
  pie       the PHP extension as PIE downloads it
  debs      the packages of Debian 12 and 13

and release.json (the wire version, the library's name, the commit), CHANGES.md, a bill of materials
(CycloneDX) and SHA256SUMS. All files carry the time of the commit, so that a second run gives equal
bytes: compare the SHA256SUMS of both.

  --only PART,...  only these parts

$DUEQ_JOBS is the number of compilers (as many as there are processors). VERSION must be
DUEQ_VERSION of core/dueq.h, and have a part in CHANGELOG.md. docs/packages.md says how a release is
published.
END
}

release() {
    local wanted='' parts=("${RELEASE_PARTS[@]}") part folder begin=$SECONDS
    while [ $# -gt 0 ]; do
        case $1 in
        -h | --help) release_help && return ;;
        --only) IFS=, read -ra parts <<<"${2:?--only needs names of parts}" && shift ;;
        -*) echo "./dev release: there is no option $1: see ./dev release --help" >&2 && return 2 ;;
        *) wanted=$1 ;;
        esac
        shift
    done
    [ -n "$wanted" ] || { release_help >&2 && return 2; }
    for part in "${parts[@]}"; do
        if [[ " ${RELEASE_PARTS[*]} " != *" $part "* ]]; then
            echo "./dev release: there is no part $part; there are: ${RELEASE_PARTS[*]}" >&2
            return 2
        fi
    done
    need_commit "./dev release"
    setup_packaging
    packaging release.py check "$wanted"
    folder=build/release/$wanted
    rm -rf "$folder"
    mkdir -p "$folder"
    for part in "${parts[@]}"; do
        "release_$part" "$folder"
    done
    packaging release.py finish "$folder"
    echo "release: version=$wanted files=$(find "$folder" -type f | wc -l)" \
        "sums=$(sha256sum <"$folder/SHA256SUMS" | cut -c 1-16) seconds=$((SECONDS - begin))"
}

release_source() { packaging release.py source "$1"; }

release_sdist() { packaging sdist.py "$1"; }

release_composer() { packaging composer.py "$1"; }

release_wheels() {
    wheels
    cp build/wheels/*.whl "$1/"
}

release_static() {
    static
    cp build/static/dueq-* "$1/"
}

release_pie() {
    rm -rf build/pie
    pie
    cp build/pie/*.tgz "$1/"
}

release_debs() {
    debs
    cp build/debs/*/*.deb "$1/"
}
