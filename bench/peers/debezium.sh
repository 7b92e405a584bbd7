# shellcheck shell=bash disable=SC2034
# Debezium's connector with its Outbox Event Router in a standalone Connect worker, tuned for throughput:
# large batches, a short poll and linger, offsets flushed every second. DBZ_* change single values.
PEER_KIND=connector PEER_JARS="connect debezium"
DBZ_PROFILE=tuned
peer_reset() { # forgets the offsets of earlier runs, writes the configuration
  rm -f "$RUN_DIR/offsets"
  cat > "$RUN_DIR/worker.properties" <<X
bootstrap.servers=$BROKERS
key.converter=org.apache.kafka.connect.storage.StringConverter
value.converter=org.apache.kafka.connect.storage.StringConverter
offset.storage.file.filename=$RUN_DIR/offsets
plugin.path=$BENCH_HOME/plugins
plugin.discovery=service_load
listeners=http://127.0.0.1:$BENCH_CONNECT_PORT
producer.compression.type=$COMPRESSION
X
  cat > "$RUN_DIR/connector.properties" <<X
name=outbox
connector.class=io.debezium.connector.postgresql.PostgresConnector
tasks.max=1
database.hostname=$PGHOST
database.port=$PGPORT
database.user=$PGUSER
database.password=x
database.dbname=$PGDATABASE
topic.prefix=bench
plugin.name=pgoutput
slot.name=$SLOT
publication.name=$PUB
publication.autocreate.mode=disabled
table.include.list=public.outbox
snapshot.mode=no_data
tombstones.on.delete=false
transforms=outbox
transforms.outbox.type=io.debezium.transforms.outbox.EventRouter
transforms.outbox.table.field.event.id=event_id
transforms.outbox.table.field.event.key=partition_key
transforms.outbox.table.field.event.payload=payload
transforms.outbox.route.by.field=aggregate_type
transforms.outbox.route.topic.replacement=bench.\${routedByValue}
transforms.outbox.table.fields.additional.placement=event_type:header:eventType
X
  if [ "$DBZ_PROFILE" = tuned ]; then
    cat >> "$RUN_DIR/worker.properties" <<X
offset.flush.interval.ms=${DBZ_OFFSET_MS:-1000}
producer.linger.ms=${DBZ_LINGER:-5}
producer.batch.size=${DBZ_PBATCH:-131072}
producer.buffer.memory=134217728
producer.max.request.size=1048576
producer.max.in.flight.requests.per.connection=5
producer.enable.idempotence=true
X
    cat >> "$RUN_DIR/connector.properties" <<X
max.batch.size=${DBZ_BATCH:-4096}
max.queue.size=${DBZ_QUEUE:-16384}
poll.interval.ms=${DBZ_POLL:-10}
extended.headers.enabled=false
X
  fi
}
peer_start() {
  local gc=$GC
  # Among the cheapest in CPU; untuned, it has Connect's own flags.
  [ "$DBZ_PROFILE" = default ] || gc=${DBZ_GC:--XX:+UseParallelGC}
  # shellcheck disable=SC2086
  "$JAVA" ${DBZ_HEAP:--Xms256m -Xmx2g} $gc -Djava.awt.headless=true -Dbench.loglevel=${DBZ_LOG:-WARN} -Dlog4j2.configurationFile="$BENCH_DIR/conf/log4j2.properties" \
    -cp "$JARS/connect/*" org.apache.kafka.connect.cli.ConnectStandalone "$RUN_DIR/worker.properties" "$RUN_DIR/connector.properties" \
    >"$RUN_DIR/log" 2>&1 </dev/null &
  PEER_PID=$!
}
