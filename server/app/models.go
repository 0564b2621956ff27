package app

import (
	"fmt"
	"io/fs"
	"os"

	"github.com/atelier-run/atelier/registry/digest"
	folders "github.com/atelier-run/atelier/registry/skills"
	"github.com/atelier-run/atelier/skills"
)

// modelsFor looks at the directory of models and names, by the digest of its code, the one program that will see it: the
// skill that is shipped for that. A program that somebody wrote under the same name has another digest.
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

// holdsModel keeps a slip of the pen from showing the skill something else of the host.
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
