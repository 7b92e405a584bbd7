#!/usr/bin/env bash
# start.sh: starts PostgreSQL and the Kafka broker, both on loopback only. stop.sh stops them.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
if ! pg_running; then
  pg_as "$PGBIN/pg_ctl" -D "$PGDATA_DIR" -l "$PGDATA_DIR/server.log" -o "-p $PGPORT" -w start >/dev/null </dev/null \
    || { pg_as tail -20 "$PGDATA_DIR/server.log" >&2; die "PostgreSQL did not start; BENCH_PGPORT chooses another port"; }
fi
psql -X -q -d postgres -Atc "select 1 from pg_database where datname = '$PGDATABASE'" | grep -q 1 || psql -X -q -d postgres -c "create database $PGDATABASE"
if ! kafka_running; then
  # shellcheck disable=SC2086
  nohup "$JAVA" -Xms1g -Xmx1g $GC -Djava.awt.headless=true -Dlog4j2.configurationFile="$BENCH_DIR/conf/log4j2.properties" \
    -cp "$JARS/kafka/*" kafka.Kafka "$BENCH_HOME/server.properties" >"$RUN/kafka.log" 2>&1 </dev/null &
  echo $! > "$RUN/kafka.pid"
  "$BT" wait -brokers "$BROKERS" -timeout 60s || { tail -20 "$RUN/kafka.log" >&2; die "the broker did not start; BENCH_KAFKA_PORT and BENCH_KAFKA_CTL_PORT choose other ports"; }
  # Another broker on the port would answer as well.
  kafka_running || { tail -20 "$RUN/kafka.log" >&2; die "the broker ended at once; BENCH_KAFKA_PORT and BENCH_KAFKA_CTL_PORT choose other ports"; }
fi
say "PostgreSQL $(sql -c 'show server_version') on $PGPORT, Kafka $KAFKA_VERSION on $BENCH_KAFKA_PORT"
