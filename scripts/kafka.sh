#!/usr/bin/env bash
# Manages a private Apache Kafka for the tests: one KRaft node on loopback. It needs Java 17 and Maven.
#   kafka.sh where            prints the directory of Kafka's libraries, which it downloads once; prints nothing if that fails
#   kafka.sh start DIR        starts a broker in DIR and prints HOST:PORT; after a stop, the broker still has its data. With
#                             SECURE=FILE, a key and a certificate in PEM, a second line is HOST:PORT for TLS and SASL
#                             (user "atelier", password "test-only-password")
#   kafka.sh stop DIR         stops the broker in DIR
set -eu

version=4.1.0
libraries=${XDG_CACHE_HOME:-$HOME/.cache}/atelier-test/kafka-$version

where() {
  command -v java >/dev/null && command -v mvn >/dev/null || return 0
  if [ ! -f "$libraries/complete" ]; then
    local project
    project=$(mktemp -d)
    cat >"$project/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>test</groupId><artifactId>test</artifactId><version>1</version><dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>$version</version></dependency>
<dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
</dependencies></project>
POM
    if (cd "$project" && mvn -q -B dependency:copy-dependencies "-DoutputDirectory=$libraries") >"$project/log" 2>&1 </dev/null; then
      touch "$libraries/complete"
    else
      tail -n 5 "$project/log" >&2
    fi
    rm -rf "$project"
  fi
  [ ! -f "$libraries/complete" ] || echo "$libraries"
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

case ${1:-} in
  where) where ;;
  start)
    lib=$(where)
    [ -n "$lib" ] || { echo "kafka.sh: no libraries" >&2; exit 1; }
    mkdir -p "$2"
    users=()
    run=(java -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dorg.slf4j.simpleLogger.defaultLogLevel=warn -cp "$lib/*")
    if [ ! -f "$2/server.properties" ]; then
      broker=$(free_port)
      controller=$(free_port)
      secure=$(free_port)
      cat >"$2/server.properties" <<PROPERTIES
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$controller
listeners=PLAINTEXT://127.0.0.1:$broker,CONTROLLER://127.0.0.1:$controller
advertised.listeners=PLAINTEXT://127.0.0.1:$broker
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs=$2/logs
num.partitions=4
message.max.bytes=26000000
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
PROPERTIES
      if [ -n "${SECURE:-}" ]; then
        cat >>"$2/server.properties" <<PROPERTIES
listeners=SECURE://127.0.0.1:$secure,CONTROLLER://127.0.0.1:$controller,PLAINTEXT://127.0.0.1:$broker
advertised.listeners=SECURE://127.0.0.1:$secure,PLAINTEXT://127.0.0.1:$broker
listener.security.protocol.map=SECURE:SASL_SSL,PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
listener.name.secure.ssl.keystore.type=PEM
listener.name.secure.ssl.keystore.location=$SECURE
listener.name.secure.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
listener.name.secure.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_atelier="test-only-password";
listener.name.secure.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.secure.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
PROPERTIES
        users=(--add-scram 'SCRAM-SHA-256=[name=atelier,password=test-only-password]' --add-scram 'SCRAM-SHA-512=[name=atelier,password=test-only-password]')
      fi
      "${run[@]}" kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAA -c "$2/server.properties" "${users[@]}" >"$2/format.log" 2>&1 || { cat "$2/format.log" >&2; exit 1; }
    fi
    broker=$(sed -n 's/^advertised.listeners=.*://p' "$2/server.properties" | tail -n 1)
    setsid "${run[@]}" kafka.Kafka "$2/server.properties" >"$2/server.log" 2>&1 </dev/null &
    echo $! >"$2/pid"
    for _ in $(seq 600); do
      if (exec 3<>"/dev/tcp/127.0.0.1/$broker") 2>/dev/null; then
        echo "127.0.0.1:$broker"
        sed -n 's|^advertised.listeners=SECURE://\([^,]*\),.*|\1|p' "$2/server.properties"
        exit 0
      fi
      kill -0 "$(cat "$2/pid")" 2>/dev/null || break
      sleep 0.1
    done
    tail -n 20 "$2/server.log" >&2
    exit 1
    ;;
  stop)
    [ ! -f "$2/pid" ] || kill -KILL "$(cat "$2/pid")" 2>/dev/null || true
    ;;
  *)
    sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
