#!/usr/bin/env bash
# latency.sh RATE SECONDS PEER...: single-row transactions at a fixed rate into an empty table
# (synchronous_commit=on). A peer is a connector, or floor (this process reads the slot,
# no Kafka), or broker (no slot: the inserting program produces after its commit).
# It replaces the loaded rows.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
rate=${1:?rate} seconds=${2:?seconds}; shift 2
connectors=(); for peer in "$@"; do case $peer in floor|broker) ;; *) connectors+=("$peer") ;; esac; done
session "${connectors[@]}"
bad=0
measure() {
  "$BT" latency -brokers "$BROKERS" -topic "$TOPIC" -dsn "$DSN" -slot "$SLOT" -pub "$PUB" -rate "$rate" -duration "${seconds}s" "$@"
}
active() { [ -n "$(sql -c "select active_pid from pg_replication_slots where slot_name = '$SLOT'")" ]; }
for peer in "$@"; do
  say "$peer: $rate rows a second for $seconds s, after 10 s of warm-up"
  rm -f "$STATE/loaded"
  drop_slot "$SLOT"; drop_slot "$BASE_SLOT"
  sql -c "drop publication if exists $PUB" -f "$BENCH_DIR/schema.sql"
  sql -c "create publication $PUB for table outbox with (publish = 'insert')"
  sql -c "select pg_create_logical_replication_slot('$SLOT', 'pgoutput')" >/dev/null
  fresh_topic
  case $peer in
  floor) result=$(measure -via slot) ;;
  broker) result=$(measure -via direct) ;;
  *)
    use_peer "$peer"; [ "$PEER_KIND" = connector ] || die "$peer is no connector"
    peer_reset; peer_start
    for _ in $(seq 1 600); do if active; then break; fi; sleep 0.1; done
    active || die "$peer does not stream; see $RUN_DIR"
    result=$(measure -pid connector="$PEER_PID")
    peer_stop ;;
  esac
  drop_slot "$SLOT"
  case $result in *'"missing":0,'*) ;; *) say "$peer lost events"; bad=1 ;; esac
  save latency "$(printf '{"peer":"%s","label":"%s","compression":"%s","rate":%s,"seconds":%s,"result":%s}' "$peer" "$LABEL" "$COMPRESSION" "$rate" "$seconds" "$result")" >/dev/null
done
"$BT" report -dir "$OUT" latency
exit $bad
