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
	Kind  GarbageKind `json:"kind" enum:"tasks,overlays,contents,draftHistory,packages,blobs" doc:"tasks: ended ones with their events. overlays: rejected and expired ones. contents: files of projects that nothing names. draftHistory: saves of drafts without a label. packages: installations and archives that nothing uses. blobs: files of large versions that no version has, of all workspaces; only for administrators of the server."`
	Count int         `json:"count"`
	Bytes int64       `json:"bytes"`
}
