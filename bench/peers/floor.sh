# shellcheck shell=bash disable=SC2034
# pg_recvlogical into /dev/null: what the walsender can give.
PEER_KIND=reader
peer_start() {
  pg_recvlogical -d "$PGDATABASE" --slot "$SLOT" --start -o proto_version=1 -o "publication_names=$PUB" \
    --no-loop --endpos "$END_LSN" -F 0 -f /dev/null >"$RUN_DIR/log" 2>&1 </dev/null &
  PEER_PID=$!
}
