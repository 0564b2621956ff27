// Package telemetry provides logs, traces and metrics. The structured log cannot be forged by quoted text. Traces leave
// the process only if a collector is configured. Metrics are in a separate registry. The package does not depend on
// runs, agents or HTTP.
package telemetry
