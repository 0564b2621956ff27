// Package telemetry is how the house tells what it does: a structured log whose lines cannot be forged by what they
// quote, traces that leave the process only when a collector is configured, and metrics in a registry of their own.
// It knows nothing of runs, agents or HTTP.
package telemetry
