# shellcheck shell=bash disable=SC2034
# The connector of this checkout. Set are the names of servers, tables and columns, the
# route, and the compression that all peers have; everything else is the default, so the
# checkpoint table is in use. OUTBOX_CDC_* from outside reach it: say so in LABEL.
PEER_KIND=connector
connector() { # COMMAND: replaces the shell that it runs in
  exec env PGSSLMODE=disable \
    OUTBOX_CDC_SLOT="$SLOT" OUTBOX_CDC_PUBLICATION="$PUB" OUTBOX_CDC_TABLES=public.outbox \
    OUTBOX_CDC_COLUMNS='id=event_id,type=event_type,key=partition_key,payload=payload,aggregate_type=aggregate_type' \
    OUTBOX_CDC_ROUTES='* -> kafka:bench.{aggregate_type}' OUTBOX_CDC_KAFKA_BROKERS="$BROKERS" \
    OUTBOX_CDC_KAFKA_COMPRESSION="$COMPRESSION" OUTBOX_CDC_LISTEN_ADDRESS="127.0.0.1:$BENCH_LISTEN_PORT" \
    "$CONNECTOR" "$@"
}
peer_reset() { # the slot is new, so its checkpoint must be
  [ -x "$CONNECTOR" ] || die "CONNECTOR is no program: $CONNECTOR"
  sql -c "drop schema if exists outbox_cdc cascade"
  (connector setup) >"$RUN_DIR/setup.log" 2>&1 || { cat "$RUN_DIR/setup.log" >&2; die "setup failed"; }
}
peer_start() {
  connector run >"$RUN_DIR/log" 2>&1 </dev/null &
  PEER_PID=$!
}
peer_stop() { kill "$PEER_PID" 2>/dev/null || :; wait "$PEER_PID" 2>/dev/null || :; PEER_PID=; }
