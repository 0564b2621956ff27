// Package telemetry provides logs, traces and metrics. It escapes untrusted text, so that such text cannot forge log
// lines. It sends traces only if a collector is configured. The package does not depend on runs, agents or HTTP.
package telemetry
