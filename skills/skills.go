// Package skills has the skills that are shipped, each as a folder like those that people write. It knows nothing of how they
// are loaded.
package skills

import (
	"embed"
	"io/fs"
)

//go:embed compact_memory embed_text extract_entities text_summarize
var folders embed.FS

// EmbedText is the skill that sees the directory of models.
const EmbedText = "embed_text"

// Folders are the skills, one folder each.
func Folders() fs.FS { return folders }
