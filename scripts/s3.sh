#!/usr/bin/env bash
# Manages a private S3 server for the tests: S3Proxy on loopback, with its data in a directory. It needs Java and Maven.
#   s3.sh where            prints the directory of S3Proxy's libraries, which it downloads once; prints nothing if that fails
#   s3.sh start DIR        starts a server with the buckets in DIR/data and prints its URL; both keys are "test-only-key"
#   s3.sh stop DIR         stops the server in DIR
set -eu

version=2.7.0
libraries=${XDG_CACHE_HOME:-$HOME/.cache}/atelier-test/s3proxy-$version

where() {
  command -v java >/dev/null && command -v mvn >/dev/null || return 0
  if [ ! -f "$libraries/complete" ]; then
    local project
    project=$(mktemp -d)
    cat >"$project/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>test</groupId><artifactId>test</artifactId><version>1</version><dependencies>
<dependency><groupId>org.gaul</groupId><artifactId>s3proxy</artifactId><version>$version</version></dependency>
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

case ${1:-} in
  where) where ;;
  start)
    lib=$(where)
    [ -n "$lib" ] || { echo "s3.sh: no libraries" >&2; exit 1; }
    mkdir -p "$2/data/code-agents"
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    cat >"$2/s3.properties" <<PROPERTIES
s3proxy.endpoint=http://127.0.0.1:$port
s3proxy.authorization=aws-v2-or-v4
s3proxy.identity=test-only-key
s3proxy.credential=test-only-key
jclouds.provider=filesystem-nio2
jclouds.identity=test-only-key
jclouds.credential=test-only-key
jclouds.filesystem.basedir=$2/data
PROPERTIES
    setsid java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$lib/*" org.gaul.s3proxy.Main --properties "$2/s3.properties" >"$2/server.log" 2>&1 </dev/null &
    echo $! >"$2/pid"
    for _ in $(seq 600); do
      if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
        echo "http://127.0.0.1:$port"
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
    sed -n '2,5s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
