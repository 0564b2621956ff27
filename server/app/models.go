package app

import (
	"fmt"
	"io/fs"
	"os"

	"github.com/atelier-run/atelier/registry/digest"
	folders "github.com/atelier-run/atelier/registry/skills"
	"github.com/atelier-run/atelier/skills"
)

// modelsFor checks the directory of the embedding model, and returns the code digest of the bundled skill for models.
// Only a program with this digest may read the directory. Another program with the same name has another digest.
func (a *App) modelsFor() (string, error) {
	dir := a.Config.EmbeddingModel
	if dir == "" || a.Skills == nil {
		return "", nil
	}
	if err := holdsModel(dir); err != nil {
		return "", err
	}
	folder, err := fs.Sub(a.Skills, skills.EmbedText)
	if err != nil {
		return "", err
	}
	files, err := folders.ReadFolder(folder)
	if err != nil {
		return "", err
	}
	skill, err := folders.Parse(files)
	if err != nil {
		return "", err
	}
	return digest.Code(skill.Spec.Files, skill.Spec.Entrypoint)
}

// holdsModel checks that the directory contains a model. Without this check, a mistyped path would give the skill
// access to other files of the host.
func holdsModel(dir string) error {
	if _, err := os.ReadDir(dir); err != nil {
		return fmt.Errorf("--embedding-model: %w", err)
	}
	for _, pattern := range []string{"config.json", "*/config.json"} {
		if found, err := fs.Glob(os.DirFS(dir), pattern); err == nil && len(found) > 0 {
			return nil
		}
	}
	return fmt.Errorf("--embedding-model: %s must be a model directory or contain model directories; no config.json was found", dir)
}
