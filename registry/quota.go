package registry

import "time"

// Quota is what a workspace may take; 0 is no limit.
type Quota struct {
	ConcurrentRuns   int64 `json:"concurrentRuns" doc:"Concurrent runs, including queued runs."`
	RunsPerDay       int64 `json:"runsPerDay"`
	CPUSecondsPerDay int64 `json:"cpuSecondsPerDay"`
	StorageBytes     int64 `json:"storageBytes" doc:"Bytes of code, of inputs, outputs and events of runs, and of stored answers for idempotency keys."`
}

// OwnQuota is what a workspace has instead of the server's defaults; nil is the default.
type OwnQuota struct {
	ConcurrentRuns   *int64 `json:"concurrentRuns,omitempty" minimum:"0" doc:"Maximum concurrent runs, including queued runs. 0 means no limit; absent means the server's default."`
	RunsPerDay       *int64 `json:"runsPerDay,omitempty" minimum:"0"`
	CPUSecondsPerDay *int64 `json:"cpuSecondsPerDay,omitempty" minimum:"0"`
	StorageBytes     *int64 `json:"storageBytes,omitempty" minimum:"0"`
}

// Over is the quota where the workspace has none of its own.
func (o OwnQuota) Over(defaults Quota) Quota {
	for _, f := range []struct{ own, value *int64 }{
		{o.ConcurrentRuns, &defaults.ConcurrentRuns}, {o.RunsPerDay, &defaults.RunsPerDay},
		{o.CPUSecondsPerDay, &defaults.CPUSecondsPerDay}, {o.StorageBytes, &defaults.StorageBytes},
	} {
		if f.own != nil {
			*f.value = *f.own
		}
	}
	return defaults
}

// DayUse is what runs have taken since a moment.
type DayUse struct {
	Runs  int64
	CPUMs float64
}

// QuotaUse is what a workspace has taken of its quota.
type QuotaUse struct {
	ConcurrentRuns   int64      `json:"concurrentRuns"`
	RunsPerDay       int64      `json:"runsPerDay"`
	CPUSecondsPerDay float64    `json:"cpuSecondsPerDay"`
	StorageBytes     int64      `json:"storageBytes"`
	MeasuredAt       *time.Time `json:"storageMeasuredAt,omitempty" doc:"Time of the last full measurement. New data is added at once; deleted data is subtracted by the next measurement."`
}
