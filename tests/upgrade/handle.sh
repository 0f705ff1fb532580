# Does what peer.py does with a message, as the command of `dueq work`: sh handle.sh LEDGER
note() {
    printf '{"what": "%s", "id": "%s"%s}\n' "$1" "$DUEQ_ID" "$2" >>"$ledger"
}
ledger=$1
body=$(cat)
note start ", \"deliveries\": $DUEQ_DELIVERIES, \"at\": $(date +%s%3N)"
case $body in
hang) [ "$DUEQ_DELIVERIES" -gt 1 ] || exec sleep 600 ;;
fail) [ "$DUEQ_ATTEMPT" -ge 3 ] || exit 75 ;;
die) [ "$DUEQ_DELIVERIES" -gt 1 ] || exit 75 ;;
esac
note done
