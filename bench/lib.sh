# shellcheck shell=bash
# Sourced by every script here. What stands with := can be set from outside.
BENCH_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
REPO=$(dirname "$BENCH_DIR")

# PostgreSQL refuses to run as root, and other users cannot look into root's
# home: then everything is in a folder that they can, and PG_OSUSER owns the data.
if [ "$(id -u)" = 0 ]; then
  : "${BENCH_HOME:=/var/tmp/outbox-cdc-bench}" "${PG_OSUSER:=$(id -un postgres 2>/dev/null || echo nobody)}"
else
  : "${BENCH_HOME:=${XDG_CACHE_HOME:-$HOME/.cache}/outbox-cdc-bench}"
  PG_OSUSER=
fi

: "${KAFKA_VERSION:=4.4.0}" "${LOG4J_VERSION:=2.25.5}" "${PG_VERSION:=17.6.0}"
# Debezium 3.6.1 is built against Kafka 4.3.0 and does not start in a 4.4.0 worker
# (NoClassDefFoundError: org.apache.kafka.common.utils.Sanitizer).
: "${CONNECT_VERSION:=4.3.0}" "${DEBEZIUM_VERSION:=3.6.1.Final}"

: "${BENCH_PGPORT:=15432}" "${BENCH_KAFKA_PORT:=19092}" "${BENCH_KAFKA_CTL_PORT:=19093}"
: "${BENCH_CONNECT_PORT:=18083}" "${BENCH_LISTEN_PORT:=19855}"
: "${BENCH_PARTITIONS:=6}" "${COMPRESSION:=none}" "${TIMEOUT:=15m}" "${LABEL:=}"

export PGHOST=127.0.0.1 PGPORT=$BENCH_PGPORT PGUSER=bench PGDATABASE=bench
BROKERS=127.0.0.1:$BENCH_KAFKA_PORT
# Debezium's router derives the topic from the row's aggregate_type, "order".
TOPIC=bench.order
SLOT=bench_slot BASE_SLOT=bench_base PUB=bench_pub
DSN="host=$PGHOST port=$PGPORT user=$PGUSER dbname=$PGDATABASE sslmode=disable"

PGBIN=$BENCH_HOME/pg/dist/bin PGDATA_DIR=$BENCH_HOME/pg/data
JARS=$BENCH_HOME/lib RUN=$BENCH_HOME/run STATE=$BENCH_HOME/state OUT=$BENCH_HOME/out
BT=$BENCH_HOME/bin/benchtool CONNECTOR=${CONNECTOR:-$BENCH_HOME/bin/outbox-cdc}
mkdir -p "$BENCH_HOME"/{bin,lib,run,state,out,tmp}

JAVA=${JAVA_HOME:+$JAVA_HOME/bin/}java
# Kafka's own choice of flags, for the broker and for an untuned worker.
GC="-XX:+UseG1GC -XX:MaxGCPauseMillis=20 -XX:InitiatingHeapOccupancyPercent=35 -XX:+ExplicitGCInvokesConcurrent"

pg_as() { if [ -n "$PG_OSUSER" ]; then (cd / && setpriv --reuid="$PG_OSUSER" --regid="$(id -gn "$PG_OSUSER")" --init-groups "$@"); else "$@"; fi; }
pg_running() { pg_as "$PGBIN/pg_ctl" -D "$PGDATA_DIR" status >/dev/null 2>&1; }
kafka_pid() { cat "$RUN/kafka.pid" 2>/dev/null || :; }
# A pid file may outlive its process, and the number find another owner.
kafka_running() { grep -qsz "$BENCH_HOME/server.properties" "/proc/$(kafka_pid)/cmdline"; }
sql() { PGOPTIONS="${PGOPTIONS:-} -c client_min_messages=warning" psql -X -q -At -v ON_ERROR_STOP=1 "$@"; }
now_ns() { date +%s%N; }
say() { echo "[$(date +%H:%M:%S)] $*" >&2; }
die() { say "ERROR: $*"; exit 1; }

# drop_slot NAME, waiting for a walsender that is still leaving.
drop_slot() {
  local _
  for _ in $(seq 1 100); do
    sql -c "select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = '$1'" >/dev/null 2>&1 && return 0
    sql -c "select pg_terminate_backend(active_pid) from pg_replication_slots where slot_name = '$1' and active_pid is not null" >/dev/null
    sleep 0.1
  done
  die "slot $1 stays active"
}

# A run never loads again: it works on a copy of the base slot, which nothing moves.
fresh_slot() { drop_slot "$SLOT"; sql -c "select pg_copy_logical_replication_slot('$BASE_SLOT', '$SLOT')" >/dev/null; }
fresh_topic() { "$BT" topic -brokers "$BROKERS" -topic "$TOPIC" -partitions "$BENCH_PARTITIONS"; }

# use_connector NAME: use_peer for one that delivers.
use_connector() { use_peer "$1"; [ "$PEER_KIND" = connector ] || die "$1 is no connector"; }
# watching ARGS...: follows the peer's records on the topic.
watching() { "$BT" watch -brokers "$BROKERS" -topic "$TOPIC" -pid connector="$PEER_PID" -timeout "$TIMEOUT" "$@"; }
# use_peer NAME: the functions of peers/NAME.sh, and a folder for its files.
use_peer() {
  [ -f "$BENCH_DIR/peers/$1.sh" ] || die "no peer $1; there are: $(cd "$BENCH_DIR/peers" && echo *.sh | sed 's/\.sh//g')"
  RUN_DIR=$RUN/$1; mkdir -p "$RUN_DIR"
  PEER_KIND='' PEER_JARS='' PEER_PID='' PEER_SINK=''
  # shellcheck source=/dev/null
  . "$BENCH_DIR/peers/$1.sh"
}
# A peer is a child of the script, and $PEER_PID.
peer_kill() {
  [ -n "${PEER_PID:-}" ] || return 0
  kill -9 "$PEER_PID" 2>/dev/null || :
  wait "$PEER_PID" 2>/dev/null || :
  PEER_PID=
}
peer_stop() { peer_kill; }

# session PEER...: downloads and builds what the peers need and starts the servers.
# At the end it stops those that it started, and a peer that still runs.
session() {
  STOP_SERVERS=
  "$BENCH_DIR/setup.sh" "$@"
  if ! pg_running || ! kafka_running; then STOP_SERVERS=1; fi
  trap end_session EXIT
  "$BENCH_DIR/start.sh"
}
end_session() {
  peer_kill
  # A process that stands still (outage.sh) does not end.
  if kafka_running; then kill -CONT "$(kafka_pid)"; fi
  if [ -n "$STOP_SERVERS" ]; then "$BENCH_DIR/stop.sh"; fi
}

# loaded: what load.sh left.
loaded() {
  [ -f "$STATE/loaded" ] || die "nothing is loaded: run load.sh first"
  # shellcheck source=/dev/null
  . "$STATE/loaded"
}

# save FILE LINE: one line of JSON, also to standard output.
save() { printf '%s\n' "$2" | tee -a "$OUT/$1.jsonl"; }
