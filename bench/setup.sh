#!/usr/bin/env bash
# setup.sh [PEER...]: downloads and builds what these peers need, under $BENCH_HOME.
# Safe to run again; what is there already is not fetched again.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

need() { # COMMAND... -- how to get them
  local c
  for c in "$@"; do [ "$c" = -- ] && return 0; command -v "$c" >/dev/null || die "$c is missing: ${*: -1}"; done
}
need psql pgbench pg_recvlogical -- "install PostgreSQL's clients of version 15 or later (Debian and Ubuntu: postgresql-client and postgresql; Fedora: postgresql and postgresql-contrib)"
need "$JAVA" mvn -- "install Java 17 or later and Maven (Debian and Ubuntu: default-jdk-headless maven)"
need go unzip xz tar setpriv -- "install it"
[ "$(uname -s)" = Linux ] || die "the kit reads /proc and needs Linux"

maven() { # quiet unless it fails
  mvn -q -B "$@" >"$BENCH_HOME/tmp/mvn.log" 2>&1 || { cat "$BENCH_HOME/tmp/mvn.log" >&2; die "Maven could not fetch it"; }
}

# jars NAME KEY=VALUE...: what pom/NAME.xml names, with all it needs, into $JARS/NAME.
jars() {
  local name=$1 stamp="$*"; shift
  [ "$(cat "$JARS/$name.stamp" 2>/dev/null)" != "$stamp" ] || return 0
  rm -rf "${JARS:?}/$name" "$BENCH_HOME/tmp/$name"; mkdir -p "$BENCH_HOME/tmp/$name"
  cp "$BENCH_DIR/pom/$name.xml" "$BENCH_HOME/tmp/$name/pom.xml"
  (cd "$BENCH_HOME/tmp/$name" && maven "${@/#/-D}" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$JARS/$name")
  echo "$stamp" > "$JARS/$name.stamp"
  say "$name: $(find "$JARS/$name" -name '*.jar' | wc -l) jars, $(du -sm "$JARS/$name" | cut -f1) MB"
}

wanted="kafka postgres"
for peer in "$@"; do wanted+=" $(use_peer "$peer"; echo "$PEER_JARS")"; done
for name in $(tr ' ' '\n' <<<"$wanted" | sort -u); do
  case $name in
  kafka) jars kafka kafka.version="$KAFKA_VERSION" log4j.version="$LOG4J_VERSION" ;;
  connect) jars connect kafka.version="$CONNECT_VERSION" log4j.version="$LOG4J_VERSION" ;;
  postgres) jars postgres pg.version="$PG_VERSION" ;;
  debezium)
    jars debezium debezium.version="$DEBEZIUM_VERSION"
    # The plugin folder holds the connector without what the worker brings itself.
    plugin=$BENCH_HOME/plugins/debezium-postgres
    rm -rf "$plugin"; mkdir -p "$plugin"; cp "$JARS"/debezium/*.jar "$plugin/"
    (cd "$plugin" && rm -f connect-api-*.jar kafka-clients-*.jar lz4-java-*.jar snappy-java-*.jar zstd-jni-*.jar slf4j-api-*.jar) ;;
  debezium-server)
    [ -d "$BENCH_HOME/dserver/lib" ] && continue
    say "Debezium Server is 780 MB"
    (cd "$BENCH_HOME/tmp" && maven dependency:copy -Dartifact="io.debezium:debezium-server-dist:$DEBEZIUM_VERSION:tar.gz" -DoutputDirectory="$BENCH_HOME/dist")
    mkdir -p "$BENCH_HOME/dserver"
    tar xzf "$BENCH_HOME/dist/debezium-server-dist-$DEBEZIUM_VERSION.tar.gz" -C "$BENCH_HOME/dserver" --strip-components=1 ;;
  *) die "unknown jars $name" ;;
  esac
done

if [ ! -x "$PGBIN/postgres" ]; then
  mkdir -p "$BENCH_HOME/pg/dist"
  unzip -o -q "$JARS"/postgres/*.jar '*.txz' -d "$BENCH_HOME/tmp"
  tar -xJf "$BENCH_HOME"/tmp/postgres-linux-*.txz -C "$BENCH_HOME/pg/dist"
fi
if [ ! -s "$PGDATA_DIR/PG_VERSION" ]; then
  mkdir -p "$PGDATA_DIR"; chmod 700 "$PGDATA_DIR"
  [ -z "$PG_OSUSER" ] || chown "$PG_OSUSER" "$PGDATA_DIR"
  pg_as test -x "$PGBIN/initdb" || die "user $PG_OSUSER cannot reach $BENCH_HOME: choose another BENCH_HOME, or run this as an ordinary user"
  pg_as "$PGBIN/initdb" -D "$PGDATA_DIR" -U "$PGUSER" -A trust -E UTF8 --no-locale >/dev/null
fi
pg_as tee "$PGDATA_DIR/bench.conf" <"$BENCH_DIR/conf/postgresql.conf" >/dev/null
grep -q '^include' "$PGDATA_DIR/postgresql.conf" || echo "include 'bench.conf'" | pg_as tee -a "$PGDATA_DIR/postgresql.conf" >/dev/null

if ! kafka_running; then
  sed -e "s/@PORT@/$BENCH_KAFKA_PORT/g; s/@CTL_PORT@/$BENCH_KAFKA_CTL_PORT/g; s#@DIR@#$BENCH_HOME/kafka-data#" \
    "$BENCH_DIR/conf/server.properties.tmpl" > "$BENCH_HOME/server.properties"
fi
if [ ! -s "$BENCH_HOME/kafka-data/meta.properties" ]; then
  mkdir -p "$BENCH_HOME/kafka-data"
  "$JAVA" -Dlog4j2.configurationFile="$BENCH_DIR/conf/log4j2.properties" -cp "$JARS/kafka/*" \
    kafka.tools.StorageTool format -t MkU3OEVBNTcwNTJENDM2Qg -c "$BENCH_HOME/server.properties" >"$RUN/format.log" 2>&1 || { cat "$RUN/format.log" >&2; die "the broker's folder could not be formatted"; }
fi

cd "$REPO"
go build -o "$BT" ./bench/benchtool
# The same command as make build's. CONNECTOR from outside is measured as it is.
if [ "$CONNECTOR" = "$BENCH_HOME/bin/outbox-cdc" ]; then CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$CONNECTOR" ./cmd/outbox-cdc; fi
