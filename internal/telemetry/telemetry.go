// Package telemetry provides logs, traces and metrics. Untrusted text in a log line cannot forge other lines. Traces are
// sent only if a collector is configured. The package does not depend on runs, agents or HTTP.
package telemetry
