# How long the code of each room is: ./dev sizes. Sourced by ../dev.

# size NAME BUDGET FOLDER...: prints the lines of the sources in the folders, without the files that
# a tool writes. BUDGET: the most that they should be; "": there is none.
size() {
    local name=$1 budget=$2 lines
    shift 2
    # A file that a tool writes says so in its first lines.
    lines=$(sources "$@" | tr '\0' '\n' | grep -E '\.(c|h|lua|i|py|pyi|php|js|css|html|sh)$' |
        xargs -d '\n' awk '
            FNR == 1 { sum += made ? 0 : lines; made = lines = 0 }
            FNR <= 5 && /Made (by|from .* by) .*\.py|This is a generated file/ { made = 1 }
            { lines++ }
            END { print sum + (made ? 0 : lines) }' | awk '{ sum += $1 } END { print sum + 0 }')
    printf '%-8s %6d  %s\n' "$name" "$lines" "${budget:+of $budget}"
}

sizes() {
    local kernel=(core/base core/net core/client core/verbs)
    size kernel 9000 "${kernel[@]}"
    size core 14500 core/*.h "${kernel[@]}" core/consumer core/partition core/schedule core/embedded
    size scripts 2700 core/scripts/*.lua core/scripts/lib
    size interop "" interop
    size servers "" servers
    size faces "" swig bindings
    size cli "" cli
    size web "" web
    size tests "" tests
}
