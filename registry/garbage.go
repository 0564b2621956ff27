package registry

// GarbageKind is a kind of data that nothing needs any more.
type GarbageKind string

// The kinds of garbage.
const (
	TaskGarbage    GarbageKind = "tasks"
	OverlayGarbage GarbageKind = "overlays"
	ContentGarbage GarbageKind = "contents"
	DraftGarbage   GarbageKind = "draftHistory"
	PackageGarbage GarbageKind = "packages"
	BlobGarbage    GarbageKind = "blobs"
)

// Garbage counts the data of one kind that was removed, or would be.
type Garbage struct {
	Kind  GarbageKind `json:"kind" enum:"tasks,overlays,contents,draftHistory,packages,blobs" doc:"tasks: ended tasks with their events. overlays: rejected and expired overlays. contents: project files that nothing references. draftHistory: saves of drafts without a label. packages: unused installations and archives. blobs: stored files that belong to no version, in all workspaces; only for administrators of the server."`
	Count int         `json:"count"`
	Bytes int64       `json:"bytes"`
}
