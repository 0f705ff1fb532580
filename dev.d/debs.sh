# ./dev debs: the packages of Debian, built and tried in a bare system of each release. Sourced by
# ../dev.

# The releases, with the numbers that stand in the packages' versions.
declare -A DEB_SUITES=([bookworm]=12 [trixie]=13)

debs_help() {
    cat <<'END'
usage: ./dev debs [--untried] [SUITE...]

Builds the packages libdueq0, libdueq-dev, dueq, python3-dueq and php-dueq of the last commit, each
SUITE (bookworm, trixie; without one: both) in a bare system of its own. lintian reads the packages.
Then another bare system installs them, and runs README's examples, a C program and the units of
systemd as far as a system without systemd can. The packages come to build/debs/SUITE.

  --untried   only builds

$DUEQ_JOBS is the number of compilers (as many as there are processors). Needs root, and packages by
apt. 'apt install ./build/debs/bookworm/*.deb' installs the packages.
END
}

debs() {
    local suites=() suite tried=true begin=$SECONDS
    while [ $# -gt 0 ]; do
        case $1 in
        -h | --help) debs_help && return ;;
        --untried) tried=false ;;
        *)
            if [ -z "${DEB_SUITES[$1]-}" ]; then
                echo "./dev debs: there is no suite $1; there are: bookworm trixie" >&2
                return 2
            fi
            suites+=("$1")
            ;;
        esac
        shift
    done
    need_root "./dev debs needs root: it makes bare systems and installs packages in them"
    need_packages debootstrap git
    need_commit "./dev debs"
    need_wrapper
    [ ${#suites[@]} -gt 0 ] || suites=(bookworm trixie)
    for suite in "${suites[@]}"; do
        (build_debs "$suite")
        if $tried; then
            (try_debs "$suite")
        fi
        echo "debs: suite=$suite packages=$(find "build/debs/$suite" -name '*.deb' | wc -l)" \
            "tried=$tried seconds=$((SECONDS - begin))"
    done
}

# need_commit COMMAND: what is built is the last commit, so files must not differ from it.
need_commit() {
    if [ -n "$(git status --porcelain --untracked-files=no)" ]; then
        echo "$1 builds the last commit, and these files differ from it: commit or stash them" >&2
        git status --short --untracked-files=no >&2
        return 2
    fi
}

# Makes swig/dueq_wrap.c: Debian's SWIG is too old for it. The build of the Python package leaves
# it in the tree.
need_wrapper() {
    need_packages "${BINDINGS[@]}"
    steps venv
    steps python_package
}

# source_date: the time of the last commit, which all that is built carries.
source_date() { git log -1 --format=%ct; }

dueq_version() { sed -n 's/^#define DUEQ_VERSION "\(.*\)"/\1/p' core/dueq.h; }

deb_changelog() {
    cat <<END
dueq ($(dueq_version)-1~deb${DEB_SUITES[$1]}u1) $1; urgency=medium

  * Release $(dueq_version): see changelog.gz beside this file.

 -- $(sed -n 's/^Maintainer: //p' packaging/debian/control)  $(date -Rud "@$(source_date)")
END
}

# build_debs SUITE
build_debs() {
    echo "-- the packages of Debian ${DEB_SUITES[$1]} ($1)"
    bare_system "$1"
    cp swig/dueq_wrap.c "$BARE/dueq/swig/"
    cp -a "$BARE/dueq/packaging/debian" "$BARE/dueq/debian"
    deb_changelog "$1" >"$BARE/dueq/debian/changelog"
    # setup.py makes the wrapper again if it is older than what it is made from.
    touch "$BARE/dueq/swig/dueq_wrap.c"
    in_bare_system bash -euo pipefail /dueq/packaging/build_debs.sh "${DUEQ_JOBS:-$(nproc)}" \
        >"build/log/debs-$1.log" 2>&1 || { tail -n 40 "build/log/debs-$1.log" && exit 1; }
    grep -E '^[WEI]: ' "build/log/debs-$1.log" || true
    rm -rf "build/debs/$1"
    mkdir -p "build/debs/$1"
    cp "$BARE"/*.deb "build/debs/$1/"
}

# try_debs SUITE
try_debs() {
    bare_system "$1"
    mkdir "$BARE/debs"
    cp "build/debs/$1"/*.deb "$BARE/debs/"
    in_bare_system bash -euo pipefail /dueq/tests/packaging/debs.sh
}
