#!/usr/bin/env bash
# The worker of the chaos run in the shell:
# worker.sh ROLE LEDGER URL QUEUE AWAY FAR NUMBER SEED RATE STOP
#
# ROLE is produce, consume (from QUEUE and AWAY), reach (consume from FAR), or drain (consume from
# all without mischief). The worker ends when the file STOP exists. README.md says what it writes to
# LEDGER. It runs one command at a time, so that it is slower than RATE.
set -uo pipefail

role=$1 ledger=$2 queues=("$4" "$5" "$6") number=$7 stop=${10}
export DUEQ_URL=$3
RANDOM=$(($8 % 32768))
pushes=0
declare -A CODES=([CONNECT]=-10 [CLOSED]=-11 [TIMEOUT]=-12 [LOADING]=-23 [READONLY]=-24
    [UNAVAILABLE]=-33 [NOT_DURABLE]=-34)

now_ms() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }
rare() { ((RANDOM % 1000 < $1)); }
note() { printf '%s\n' "$@" >>"$ledger"; }
# field NAME JSON: a number or a text that needs no escapes.
field() { [[ $2 =~ \"$1\":\"?([^\",}]*) ]] && echo "${BASH_REMATCH[1]}"; }

# call VERB WORDS...: runs a dueq command. Sets `status`, and `answer` to what it printed.
call() {
    answer=$(dueq "$@" --json 2>"$ledger.call")
    local code=$? failure
    failure=$(<"$ledger.call")
    status=OK
    if ((code)); then
        status=$(field status "$failure$answer")
        status=${status:-EMPTY}
        [ -z "${CODES[$status]-}" ] || note "error ${CODES[$status]} $1 ${failure//$'\n'/ }"
        ((code < 3)) || [ -n "${CODES[$status]-}" ] || note "error -30 $1 ${failure//$'\n'/ }"
    fi
}

# settled PAST KEY: notes the outcome of a verb. PAST: the verb's past participle.
settled() {
    case $status in
    OK) note "$1 $2 $(now_ms)" ;;
    EXHAUSTED) note "buried $2 $(now_ms)" ;;
    LEASE_LOST) note "lost $2 $(now_ms)" ;;
    CLOSED | TIMEOUT | NOT_DURABLE) ;;
    *) note "undone $2" ;;
    esac
}

produce() {
    local queue mark delay id word
    while [ ! -e "$stop" ]; do
        queue=${queues[$((RANDOM % 2))]} mark=$number.$((++pushes)) delay=0
        ! rare 500 || delay=$((20 + RANDOM % 2000))
        id=own-$number-$pushes
        note "intend $mark $id $(($(now_ms) + delay)) $queue 16 5 - default"
        call push "$queue" "$mark x" --id "$id" --delay "${delay}ms"
        case $status in
        OK) word=accepted ;;
        DUPLICATE) word=duplicate ;;
        CLOSED | TIMEOUT | NOT_DURABLE) word=unknown ;;
        *) word=refused ;;
        esac
        note "$word $mark $(now_ms)"
    done
}

consume() { # consume CALM QUEUE...
    local calm=$1 line lines mark key queue ticket now
    shift
    while [ ! -e "$stop" ]; do
        call reserve "$@" --count 5 --wait 1s --lease 2s
        if [ "$status" != OK ]; then
            note empty
            continue
        fi
        mapfile -t lines <<<"$answer"
        for line in "${lines[@]}"; do
            mark=$(field body "$line")
            times="$(field now_ms "$line") $(field time_ms "$line")"
            note "got ${mark%% *} $(field deliveries "$line") $times\
 $(field queue "$line") $(field attempt "$line") $(field crashes "$line")"
        done
        for line in "${lines[@]}"; do
            mark=$(field body "$line") queue=$(field queue "$line") ticket=$(field ticket "$line")
            key="${mark%% *} $(field deliveries "$line")" now=$(now_ms)
            if $calm || ! rare 100; then
                note "acking $key $now -"
                call ack "$queue" "$ticket"
                settled acked "$key"
            elif rare 500; then
                note "retrying $key $now $((now + 300))"
                call retry "$queue" "$ticket" --delay 300ms
                settled retried "$key"
            elif rare 500; then
                note "releasing $key $now $((now + 100))"
                call release "$queue" "$ticket" --delay 100ms
                settled released "$key"
            fi
        done
    done
}

case $role in
produce) produce ;;
consume) consume false "${queues[0]}" "${queues[1]}" ;;
reach) consume false "${queues[2]}" ;;
drain) consume true "${queues[@]}" ;;
esac
rm -f "$ledger.call"
