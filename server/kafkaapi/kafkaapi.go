// Package kafkaapi runs tools that are requested in one Kafka topic, and publishes the results in another topic. The
// package only translates messages: runs are executed by the same service as the runs of every other API.
//
// Results and the offsets of their requests are committed in one Kafka transaction, and a request ID runs at most once.
// Therefore a reader with isolation level read_committed sees each result once, even if this server is killed.
package kafkaapi

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
	"go.opentelemetry.io/otel/propagation"

	"github.com/atelier-run/atelier/internal/config"
	"github.com/atelier-run/atelier/studio/runs"
)

// Options configures an API.
type Options struct {
	Kafka     config.Kafka
	Instance  string // stable name of this server in the consumer group; different for each server
	Runs      *runs.Service
	Keys      runs.Keys
	Propagate propagation.TextMapPropagator
	Log       *slog.Logger
	Now       func() time.Time
}

// API consumes requests from Kafka. Run may be called only once.
type API struct {
	Options
	schemas schemas
	places  chan struct{}  // contains one element for each concurrent run
	tools   sync.WaitGroup // sessions with running tools, including sessions of earlier memberships
	side    *kgo.Client    // client for events about started tools, which are sent outside of transactions

	noting sync.Mutex
	state  State
	window *window // window of the current membership in the group
}

// State describes the connection to Kafka.
type State struct {
	Connected bool
	Reason    string // reason why there is no connection
	Results   int64  // number of published results
	Invalid   int64  // number of requests that were sent to the dead letter topic
	Waiting   int    // number of polled requests whose results are not committed yet
	Paused    int    // number of partitions that are paused because they have too many waiting requests

	failing bool // whether the last attempt to publish results failed
}

const (
	pollRecords   = 500
	pollEvery     = 20 * time.Millisecond // Minimum time between polls, so that more requests share a transaction of the database.
	retryEvery    = 2 * time.Second
	pingEvery     = 5 * time.Second
	pingWithin    = 10 * time.Second
	metadataAge   = 500 * time.Millisecond // The age is short, so that new topics are found soon.
	fetchBytes    = 1 << 20                // Limit for one partition in one fetch. The broker exceeds it with one batch, so that larger messages arrive too.
	deliverWithin = 30 * time.Second       // After this time the transaction is aborted, and its requests are delivered again.
	keyFor        = 7 * 24 * time.Hour
)

// New checks the options and returns the API. It does not connect to Kafka.
func New(o Options) (*API, error) {
	compiled, err := compileSchemas()
	if err != nil {
		return nil, err
	}
	a := &API{Options: o, schemas: compiled, places: make(chan struct{}, o.Kafka.Concurrent), state: State{Reason: "It has not connected yet."}}
	base, err := a.connection()
	if err != nil {
		return nil, err
	}
	if a.side, err = kgo.NewClient(append(base, kgo.AllowAutoTopicCreation())...); err != nil {
		return nil, err
	}
	return a, nil
}

// connection returns the options that all Kafka clients of the API share.
func (a *API) connection() ([]kgo.Opt, error) {
	k := a.Kafka
	all := []kgo.Opt{kgo.SeedBrokers(k.Brokers...), kgo.ClientID("atelier"), kgo.ProducerBatchMaxBytes(int32(k.MessageBytes)), kgo.RecordDeliveryTimeout(deliverWithin), kgo.MetadataMinAge(metadataAge), kgo.MetadataMaxAge(60 * metadataAge)}
	if k.TLS {
		settings := &tls.Config{MinVersion: tls.VersionTLS12}
		if k.CAFile != "" {
			text, err := os.ReadFile(k.CAFile)
			if err != nil {
				return nil, fmt.Errorf("read --kafka-ca: %w", err)
			}
			settings.RootCAs = x509.NewCertPool()
			if !settings.RootCAs.AppendCertsFromPEM(text) {
				return nil, fmt.Errorf("--kafka-ca must be a file with PEM certificates; %s contains none", k.CAFile)
			}
		}
		all = append(all, kgo.DialTLSConfig(settings))
	}
	var mechanism sasl.Mechanism
	switch k.SASL {
	case "":
		return all, nil
	case "plain":
		mechanism = plain.Auth{User: k.User, Pass: k.Password}.AsMechanism()
	case "scram-sha-256":
		mechanism = scram.Auth{User: k.User, Pass: k.Password}.AsSha256Mechanism()
	default:
		mechanism = scram.Auth{User: k.User, Pass: k.Password}.AsSha512Mechanism()
	}
	if k.User == "" || k.Password == "" {
		return nil, errors.New("--kafka-sasl requires --kafka-user and --kafka-password")
	}
	return append(all, kgo.SASL(mechanism)), nil
}

// State returns the state of the connection.
func (a *API) State() State {
	a.noting.Lock()
	defer a.noting.Unlock()
	state := a.state
	if a.window != nil {
		state.Waiting, state.Paused = a.window.load()
	}
	return state
}

func (a *API) note(change func(*State)) {
	a.noting.Lock()
	defer a.noting.Unlock()
	change(&a.state)
}

func (a *API) connected() {
	a.note(func(s *State) { s.Connected, s.Reason = true, "" })
}

func (a *API) disconnected(ctx context.Context, err error) {
	before, reason := a.State(), withoutAddresses(err)
	a.note(func(s *State) { s.Connected, s.Reason = false, reason })
	if before.Connected || before.Reason != reason {
		a.Log.LogAttrs(ctx, slog.LevelWarn, "Kafka", slog.Any("error", err))
	}
}

// address matches parts of an error text that contain an address: a host with its port, the host of a failed lookup,
// and the names in an error about a certificate.
var address = regexp.MustCompile(`\[[0-9a-fA-F:.]*:[0-9a-fA-F:.]*(?:%[\w.-]+)?\](?::\d+)?|[\w.-]+:\d+\b|(lookup )[\w.-]+|(certificate (?:is (?:not )?valid )?for ).*`)

// withoutAddresses returns the text of an error without the addresses of brokers, because anybody may request /health and
// /ready. The log contains the whole error.
func withoutAddresses(err error) string {
	return address.ReplaceAllString(err.Error(), "${1}${2}…")
}

// Run consumes requests until ctx ends. It reconnects as often as necessary. When ctx has ended, it waits for running
// tools until abort ends, and commits their results.
func (a *API) Run(ctx, abort context.Context) {
	defer a.closeSide()
	defer a.tools.Wait()
	for ctx.Err() == nil {
		if err := a.session(ctx, abort); err != nil {
			a.disconnected(ctx, err)
			pause(ctx, retryEvery)
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// closeSide sends the events about started tools that wait, and closes their client.
func (a *API) closeSide() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := a.side.Flush(ctx); err != nil {
		a.Log.LogAttrs(ctx, slog.LevelDebug, "Kafka: events about started tools are lost", slog.Any("error", err))
	}
	a.side.Close()
}

// ping returns an error if no broker answers.
func (a *API) ping(ctx context.Context) error {
	reachable, cancel := context.WithTimeout(ctx, pingWithin)
	defer cancel()
	if err := a.side.Ping(reachable); err != nil {
		return fmt.Errorf("no broker answers: %w", err)
	}
	return nil
}

// watch regularly checks whether a broker answers, so that the state is correct even if there are no messages.
func (a *API) watch(ctx context.Context) {
	for ctx.Err() == nil {
		pause(ctx, pingEvery)
		switch err := a.ping(ctx); {
		case ctx.Err() != nil:
		case err != nil:
			a.disconnected(ctx, err)
		case !a.State().failing:
			a.connected()
		}
	}
}
