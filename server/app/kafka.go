package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"

	"github.com/atelier-run/atelier/server/httpapi"
	"github.com/atelier-run/atelier/server/kafkaapi"
)

// openKafka prepares the Kafka API if brokers are configured. Serve starts the API.
func (a *App) openKafka(context.Context) error {
	if len(a.Config.Kafka.Brokers) == 0 {
		return nil
	}
	instance, err := a.instance()
	if err != nil {
		return err
	}
	a.kafka, err = kafkaapi.New(kafkaapi.Options{
		Kafka: a.Config.Kafka, Instance: instance, Runs: a.runs, Keys: a.store, Propagate: a.Traces.Propagator(), Log: a.Log, Now: a.Now,
	})
	if err != nil {
		return err
	}
	a.metrics.Gauge("atelier_kafka_connected", "1 if the server consumes requests from Kafka, otherwise 0.", nil, func() float64 {
		if a.kafka.State().Connected {
			return 1
		}
		return 0
	})
	a.metrics.Counter("atelier_kafka_results_total", "Number of results that were published to Kafka.", nil, func() float64 { return float64(a.kafka.State().Results) })
	a.metrics.Gauge("atelier_kafka_waiting", "Number of requests from Kafka whose results are not committed yet.", nil, func() float64 { return float64(a.kafka.State().Waiting) })
	a.metrics.Gauge("atelier_kafka_paused_partitions", "Number of partitions that are paused because too many of their requests wait.", nil, func() float64 { return float64(a.kafka.State().Paused) })
	a.metrics.Counter("atelier_kafka_invalid_total", "Number of invalid requests from Kafka.", nil, func() float64 { return float64(a.kafka.State().Invalid) })
	return nil
}

// instance returns a name for this server in its consumer group. The name is a hash of the host name and the data
// directory, so it is unique and stays the same after a restart.
func (a *App) instance() (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", err
	}
	data, err := filepath.Abs(a.Config.Data)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(host + "\n" + data))
	return hex.EncodeToString(sum[:8]), nil
}

// serveKafka consumes requests until ctx ends. The returned function finish waits until the running tools have ended
// and their results are sent. After interrupt, finish waits only until the results of ended tools are sent.
func (a *App) serveKafka(ctx context.Context) (finish func(ctx context.Context), interrupt func()) {
	if a.kafka == nil {
		return func(context.Context) {}, func() {}
	}
	abort, interrupt := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.kafka.Run(ctx, abort)
	}()
	return func(limit context.Context) {
		select {
		case <-done:
		case <-limit.Done():
			interrupt()
			<-done
		}
	}, interrupt
}

// kafkaState reports the state of the connection to Kafka, or nil if the Kafka API is off.
func (h *statusProvider) kafkaState() *httpapi.KafkaState {
	if h.app.kafka == nil {
		return nil
	}
	state := h.app.kafka.State()
	return &httpapi.KafkaState{Connected: state.Connected, Reason: state.Reason}
}
