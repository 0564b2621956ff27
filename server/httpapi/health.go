package httpapi

import (
	"context"
	"net/http"
)

// Health is the state of the server for monitoring systems and existing clients.
type Health struct {
	Status         string        `json:"status" enum:"healthy,degraded,draining" doc:"healthy, degraded, or draining while the server stops."`
	Version        string        `json:"version"`
	RegistryLoaded bool          `json:"registry_loaded"`
	ExecutorReady  bool          `json:"executor_ready"`
	SkillsCount    int           `json:"skills_count"`
	Storage        StorageState  `json:"storage"`
	Sandbox        SandboxState  `json:"sandbox"`
	Servers        *ServersState `json:"servers,omitempty" doc:"Absent unless --replicas is set."`
	Kafka          *KafkaState   `json:"kafka,omitempty" doc:"Absent unless --kafka-brokers is set."`
	Bucket         *BucketState  `json:"bucket,omitempty" doc:"Absent unless --s3-endpoint is set."`
}

// ServersState describes this server and the other servers that share its database.
type ServersState struct {
	Others    int64 `json:"others" doc:"Other servers with a lease on the database."`
	Leading   bool  `json:"leading" doc:"true if this server removes old data, executes delayed approvals and sends webhooks."`
	Listening bool  `json:"listening" doc:"true if this server receives messages of the other servers. If not, it renews its caches every second."`
}

// KafkaState reports whether the server consumes requests from Kafka.
type KafkaState struct {
	Connected bool   `json:"connected"`
	Reason    string `json:"reason,omitempty" doc:"Reason why the server is not connected to Kafka."`
}

// BucketState reports whether the bucket with the files of large versions answers.
type BucketState struct {
	Available bool   `json:"available"`
	Reason    string `json:"reason,omitempty" doc:"Reason why the bucket is not available, and how to repair it."`
}

// StorageState reports whether the server can record changes and runs.
type StorageState struct {
	Writable bool   `json:"writable" doc:"true if a recent write to the database succeeded. If false, runs are refused with 503 before the program starts."`
	Reason   string `json:"reason,omitempty" doc:"Reason why the database cannot be written."`
}

func (a *API) getHealth() {
	type out struct{ Body Health }
	add(a, endpoint{
		id: "getHealth", method: http.MethodGet, path: "/health", tag: "server", summary: "Get the state of the server", public: true,
		about: "The answer is always 200. GET /ready reports whether the server can be used.",
	}, func(ctx context.Context, _ *none) (*out, error) {
		return &out{Body: a.StatusProvider.Health(ctx)}, nil
	})
}
