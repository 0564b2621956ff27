package registry

import "time"

// Quota limits the usage of a workspace. 0 means no limit.
type Quota struct {
	ConcurrentRuns   int64 `json:"concurrentRuns" doc:"Concurrent runs, including queued runs. A program that waits for an approval is paused and does not count."`
	RunsPerDay       int64 `json:"runsPerDay"`
	CPUSecondsPerDay int64 `json:"cpuSecondsPerDay"`
	StorageBytes     int64 `json:"storageBytes" doc:"Bytes of code, of files of projects and of overlays, of inputs, outputs and events of runs, and of stored answers for idempotency keys."`
}

// OwnQuota holds the limits that a workspace has instead of the server's default quota. A nil field means the default.
type OwnQuota struct {
	ConcurrentRuns   *int64 `json:"concurrentRuns,omitempty" minimum:"0" doc:"Maximum concurrent runs, including queued runs. A program that waits for an approval is paused and does not count. 0 means no limit. Absent means the server's default."`
	RunsPerDay       *int64 `json:"runsPerDay,omitempty" minimum:"0"`
	CPUSecondsPerDay *int64 `json:"cpuSecondsPerDay,omitempty" minimum:"0"`
	StorageBytes     *int64 `json:"storageBytes,omitempty" minimum:"0"`
}

// Over returns the quota that applies to a workspace: its own limits, and the default for each limit that it does not
// set.
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

// DayUse is the number of runs and their CPU time since a point in time.
type DayUse struct {
	Runs  int64
	CPUMs float64
}

// ServerUse is the usage of a workspace that one of several servers has counted for quotas.
type ServerUse struct {
	Server    string
	Workspace string
	Day       time.Time // midnight, UTC
	Live      int64     // number of runs that are in progress
	Used      DayUse    // usage of this day since the server started
}

// QuotaUse is the current usage of a workspace, next to its quota.
type QuotaUse struct {
	ConcurrentRuns   int64      `json:"concurrentRuns"`
	RunsPerDay       int64      `json:"runsPerDay"`
	CPUSecondsPerDay float64    `json:"cpuSecondsPerDay"`
	StorageBytes     int64      `json:"storageBytes"`
	MeasuredAt       *time.Time `json:"storageMeasuredAt,omitempty" doc:"Time of the last full measurement of storageBytes. New data is added at once. Deleted data is subtracted at the next measurement."`
}
