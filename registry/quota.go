package registry

import "time"

// Quota is the maximum usage of a workspace; 0 means no limit.
type Quota struct {
	ConcurrentRuns   int64 `json:"concurrentRuns" doc:"Concurrent runs, including queued runs. A program that waits for an approval is paused and does not count."`
	RunsPerDay       int64 `json:"runsPerDay"`
	CPUSecondsPerDay int64 `json:"cpuSecondsPerDay"`
	StorageBytes     int64 `json:"storageBytes" doc:"Bytes of code, of files of projects and of overlays, of inputs, outputs and events of runs, and of stored answers for idempotency keys."`
}

// OwnQuota overrides the server's default quota for a workspace; nil means the default.
type OwnQuota struct {
	ConcurrentRuns   *int64 `json:"concurrentRuns,omitempty" minimum:"0" doc:"Maximum concurrent runs, including queued runs. A program that waits for an approval is paused and does not count. 0 means no limit; absent means the server's default."`
	RunsPerDay       *int64 `json:"runsPerDay,omitempty" minimum:"0"`
	CPUSecondsPerDay *int64 `json:"cpuSecondsPerDay,omitempty" minimum:"0"`
	StorageBytes     *int64 `json:"storageBytes,omitempty" minimum:"0"`
}

// Over returns the effective quota: the workspace's own limits, and the defaults where it has none.
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

// DayUse is the usage of runs since a point in time.
type DayUse struct {
	Runs  int64
	CPUMs float64
}

// ServerUse is what one of several servers counts for the quotas of a workspace.
type ServerUse struct {
	Server    string
	Workspace string
	Day       time.Time // midnight, UTC
	Live      int64     // runs at this moment
	Used      DayUse    // of the day, since the server started
}

// QuotaUse is the usage of a workspace, compared with its quota.
type QuotaUse struct {
	ConcurrentRuns   int64      `json:"concurrentRuns"`
	RunsPerDay       int64      `json:"runsPerDay"`
	CPUSecondsPerDay float64    `json:"cpuSecondsPerDay"`
	StorageBytes     int64      `json:"storageBytes"`
	MeasuredAt       *time.Time `json:"storageMeasuredAt,omitempty" doc:"Time of the last full measurement. New data is added at once; deleted data is subtracted by the next measurement."`
}
