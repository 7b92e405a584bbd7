# shellcheck shell=bash disable=SC2034
# Debezium Server (Quarkus distribution) with its Kafka sink and the Outbox Event Router. Needs Java 21 or newer:
# DBZ_SERVER_JAVA names it. The download is 780 MB.
PEER_KIND=connector PEER_JARS="debezium-server"
DS=$BENCH_HOME/dserver
DBZ_SERVER_JAVA=${DBZ_SERVER_JAVA:-$JAVA}
peer_reset() {
  [ -d "$DS/lib" ] || die "no Debezium Server: run setup.sh debezium-server"
  rm -rf "$RUN_DIR/offsets"; mkdir -p "$RUN_DIR/config"
  cat > "$RUN_DIR/config/application.properties" <<X
quarkus.http.port=${DBZ_SERVER_PORT:-18084}
quarkus.http.host=127.0.0.1
quarkus.log.level=${DBZ_LOG:-WARN}
quarkus.log.console.json=false
debezium.sink.type=kafka
debezium.sink.kafka.producer.bootstrap.servers=$BROKERS
debezium.sink.kafka.producer.key.serializer=org.apache.kafka.common.serialization.StringSerializer
debezium.sink.kafka.producer.value.serializer=org.apache.kafka.common.serialization.StringSerializer
debezium.sink.kafka.producer.acks=all
debezium.sink.kafka.producer.linger.ms=${DBZ_LINGER:-5}
debezium.sink.kafka.producer.batch.size=${DBZ_PBATCH:-131072}
debezium.sink.kafka.producer.compression.type=$COMPRESSION
debezium.format.key=simplestring
debezium.format.value=simplestring
debezium.format.header.schemas.enable=false
debezium.source.connector.class=io.debezium.connector.postgresql.PostgresConnector
debezium.source.offset.storage.file.filename=$RUN_DIR/offsets
debezium.source.offset.flush.interval.ms=${DBZ_OFFSET_MS:-1000}
debezium.source.database.hostname=$PGHOST
debezium.source.database.port=$PGPORT
debezium.source.database.user=$PGUSER
debezium.source.database.password=x
debezium.source.database.dbname=$PGDATABASE
debezium.source.topic.prefix=bench
debezium.source.plugin.name=pgoutput
debezium.source.slot.name=$SLOT
debezium.source.publication.name=$PUB
debezium.source.publication.autocreate.mode=disabled
debezium.source.table.include.list=public.outbox
debezium.source.snapshot.mode=no_data
debezium.source.extended.headers.enabled=false
debezium.source.max.batch.size=${DBZ_BATCH:-4096}
debezium.source.max.queue.size=${DBZ_QUEUE:-16384}
debezium.source.poll.interval.ms=${DBZ_POLL:-10}
debezium.transforms=outbox
debezium.transforms.outbox.type=io.debezium.transforms.outbox.EventRouter
debezium.transforms.outbox.table.field.event.id=event_id
debezium.transforms.outbox.table.field.event.key=partition_key
debezium.transforms.outbox.table.field.event.payload=payload
debezium.transforms.outbox.route.by.field=aggregate_type
debezium.transforms.outbox.route.topic.replacement=bench.\$\${routedByValue}
debezium.transforms.outbox.table.fields.additional.placement=event_type:header:eventType
X
}
peer_start() {
  (cd "$RUN_DIR" && exec "$DBZ_SERVER_JAVA" ${DBZ_HEAP:--Xms256m -Xmx2g} ${DBZ_GC:--XX:+UseParallelGC} \
    -cp "$(ls "$DS"/*-runner.jar):config:$DS/lib/*" io.debezium.server.Main) >"$RUN_DIR/log" 2>&1 </dev/null &
  PEER_PID=$!
}
