package registry

// GarbageKind is a kind of stored data that is no longer needed.
type GarbageKind string

// These are the values of GarbageKind.
const (
	TaskGarbage    GarbageKind = "tasks"
	OverlayGarbage GarbageKind = "overlays"
	ContentGarbage GarbageKind = "contents"
	DraftGarbage   GarbageKind = "draftHistory"
	PackageGarbage GarbageKind = "packages"
	BlobGarbage    GarbageKind = "blobs"
)

// Garbage is the amount of data of one kind that a cleanup removed or, in a dry run, would remove.
type Garbage struct {
	Kind  GarbageKind `json:"kind" enum:"tasks,overlays,contents,draftHistory,packages,blobs" doc:"tasks: ended tasks with their events. overlays: rejected and expired overlays. contents: project files that nothing references. draftHistory: saves of drafts without a label. packages: unused installations and archives. blobs: stored files that belong to no version, in all workspaces; only for administrators of the server."`
	Count int         `json:"count"`
	Bytes int64       `json:"bytes"`
}
