#!/usr/bin/env bash
# Usage: scripts/monty-proto.sh   Generates runtimes/monty/montypb/wire.pb.go from wire.proto. protoc comes from the Python index.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check grpcio-tools==1.85.1
GOBIN="$work" go install google.golang.org/protobuf/cmd/protoc-gen-go
PATH="$work:$PATH" "$work/venv/bin/python" -m grpc_tools.protoc --proto_path=. --go_out=. --go_opt=paths=source_relative runtimes/monty/montypb/wire.proto
