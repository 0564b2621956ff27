// Package kafkaapi runs tools that are requested in one Kafka topic and publishes the results in another. It only
// translates: the run itself is the same use case as for every other API.
//
// Results and the offsets of their requests are committed in one Kafka transaction, and a request ID runs at most once.
// So a reader with isolation level read_committed sees each result once, even if this server is killed.
package kafkaapi

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
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
	Instance  string // stable name of this server in the group, different for each server
	Runs      *runs.Service
	Keys      runs.Keys
	Propagate propagation.TextMapPropagator
	Log       *slog.Logger
	Now       func() time.Time
}

// API consumes requests. Run it once.
type API struct {
	Options
	schemas schemas
	places  chan struct{} // one for each concurrent run
	side    *kgo.Client   // for side events that tell about a start, which no transaction may delay

	mu    sync.Mutex
	state State
}

// State describes the connection to Kafka.
type State struct {
	Connected bool
	Reason    string // why not
	Results   int64  // published results
	Invalid   int64  // requests that went to the dead letter topic
}

const (
	pollRecords   = 500
	pollEvery     = 500 * time.Millisecond
	retryEvery    = 2 * time.Second
	metadataAge   = 500 * time.Millisecond // new topics are found soon
	fetchBytes    = 24 << 20
	deliverWithin = 30 * time.Second // then the transaction is aborted and the requests come again
	keyFor        = 7 * 24 * time.Hour
)

// New checks the options. It does not connect.
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

// connection returns the options that every client shares.
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
				return nil, fmt.Errorf("--kafka-ca must be a file with certificates in PEM; %s has none", k.CAFile)
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
		return nil, errors.New("--kafka-sasl needs --kafka-user and --kafka-password")
	}
	return append(all, kgo.SASL(mechanism)), nil
}

// State returns the state of the connection.
func (a *API) State() State {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.state
}

func (a *API) note(change func(*State)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(&a.state)
}

func (a *API) connected() {
	a.note(func(s *State) { s.Connected, s.Reason = true, "" })
}

func (a *API) disconnected(ctx context.Context, err error) {
	before := a.State()
	a.note(func(s *State) { s.Connected, s.Reason = false, err.Error() })
	if before.Connected || before.Reason != err.Error() {
		a.Log.LogAttrs(ctx, slog.LevelWarn, "Kafka", slog.Any("error", err))
	}
}

// Run consumes requests until ctx ends. It then lets running tools finish, until abort ends too, and commits them. It
// reconnects as often as necessary.
func (a *API) Run(ctx, abort context.Context) {
	defer a.side.Close()
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

// session consumes requests until an error that only a new connection can repair, or until ctx ends.
func (a *API) session(ctx, abort context.Context) error {
	base, err := a.connection()
	if err != nil {
		return err
	}
	group, err := kgo.NewGroupTransactSession(append(base,
		kgo.ConsumerGroup(a.Kafka.Group), kgo.ConsumeTopics(a.Kafka.Requests), kgo.TransactionalID(a.Kafka.Group+"-"+a.Instance),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.RequireStableFetchOffsets(), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.AllowAutoTopicCreation(), kgo.FetchMaxPartitionBytes(fetchBytes),
		kgo.InstanceID(a.Instance), // a restarted server takes its partitions back at once
	)...)
	if err != nil {
		return err
	}
	defer group.Close()
	reachable, cancel := context.WithTimeout(ctx, 10*time.Second)
	err = group.Client().Ping(reachable)
	cancel()
	if err != nil {
		return fmt.Errorf("no broker of %v answers: %w", a.Kafka.Brokers, err)
	}
	a.connected()
	for ctx.Err() == nil {
		polling, stop := context.WithTimeout(ctx, pollEvery)
		fetches := group.PollRecords(polling, pollRecords)
		stop()
		if fetches.IsClientClosed() {
			return errors.New("the client is closed")
		}
		for _, failed := range fetches.Errors() {
			if !errors.Is(failed.Err, context.DeadlineExceeded) && !errors.Is(failed.Err, context.Canceled) {
				return fmt.Errorf("read %s: %w", failed.Topic, failed.Err)
			}
		}
		if fetches.NumRecords() == 0 {
			continue
		}
		if err := a.serve(ctx, abort, group, fetches.Records()); err != nil {
			return err
		}
	}
	return nil
}

// serve answers the requests of one poll in one transaction.
func (a *API) serve(ctx, abort context.Context, group *kgo.GroupTransactSession, records []*kgo.Record) error {
	answers, invalid, whole := a.answers(ctx, abort, records)
	if err := group.Begin(); err != nil {
		return fmt.Errorf("begin a transaction: %w", err)
	}
	produced := group.ProduceSync(context.WithoutCancel(ctx), answers...)
	// Without all answers nothing is committed. The requests come again, and those that ran are answered from their record.
	committed, err := group.End(context.WithoutCancel(ctx), kgo.TransactionEndTry(whole && produced.FirstErr() == nil))
	if err = errors.Join(produced.FirstErr(), err); err != nil {
		return fmt.Errorf("publish results: %w", err)
	}
	if committed {
		a.note(func(s *State) {
			s.Results += int64(len(records)) - invalid
			s.Invalid += invalid
		})
	}
	return nil
}
