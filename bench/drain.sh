#!/usr/bin/env bash
# drain.sh PEER: drains what is loaded, from a fresh copy of the base slot into a
# fresh topic. One line of JSON, also in $OUT/drain.jsonl.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
loaded; use_peer "${1:?peer}"
trap peer_kill EXIT
machine() { awk '/^cpu /{print $2+$3+$4+$7+$8, $9}' /proc/stat; }
failed() { printf '{"error":"%s"}' "$(head -1 "$RUN_DIR/watch.err" | tr -d '"\\')"; }
watching() {
  "$BT" watch -brokers "$BROKERS" -topic "$TOPIC" -n "$N" -t0 "$t0" -pid connector="$PEER_PID" -pid broker="$(kafka_pid)" \
    -dsn "$DSN" -slot "$SLOT" -timeout "$TIMEOUT" "$@" 2>"$RUN_DIR/watch.err"
}

load=$(cut -d' ' -f1 /proc/loadavg); before=$(machine); verdict=null
fresh_slot; fresh_topic
case $PEER_KIND in
connector)
  peer_reset; t0=$(now_ns); peer_start
  result=$(watching) || result=$(failed)
  peer_stop
  PEER_SINK=1 ;;
reader) # ends by itself at END_LSN, with 0 if it got there
  t0=$(now_ns); peer_start
  result=$(watching -until-exit) || result=$(failed)
  wait "$PEER_PID" || result='{"error":"the program failed; see its log"}'
  PEER_PID= ;;
self) # measures itself
  result=$(peer_run 2>"$RUN_DIR/watch.err") || result=$(failed) ;;
esac
drop_slot "$SLOT"
# A rate counts only when every id is there.
if [ -n "$PEER_SINK" ]; then
  verdict=$("$BT" verify -brokers "$BROKERS" -topic "$TOPIC" -n "$N") || { verdict=null; result='{"error":"the topic could not be verified"}'; }
fi
# What the whole machine did meanwhile, and what its host took away, the verification included.
machine=$(echo "$before $(machine)" | awk '{printf "{\"busy_ms\":%d,\"steal_ms\":%d}", ($3-$1)*10, ($4-$2)*10}')
save drain "$(printf '{"peer":"%s","label":"%s","compression":"%s","scenario":"%s","n":%s,"loadavg_before":%s,"drain":%s,"verify":%s,"machine":%s}' \
  "$1" "$LABEL" "$COMPRESSION" "$SCENARIO" "$N" "$load" "$result" "$verdict" "$machine")"
case $result in *'"error"'*) die "$1: $result; see $RUN_DIR" ;; esac
