package agents

import (
	"encoding/json"
	"fmt"
	"io/fs"

	"github.com/atelier-run/atelier/runtimes"
)

// Sample is an example agent. Agent is the input to create it, and Input is an example input for its first run.
type Sample struct {
	Name        string            `json:"name"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Language    runtimes.Language `json:"language"`
	Input       json.RawMessage   `json:"input"`
	Agent       Input             `json:"agent"`
}

// LoadSamples reads the named samples in the given order, each from a folder of root.
func LoadSamples(root fs.FS, names []string) ([]Sample, error) {
	samples := make([]Sample, 0, len(names))
	for _, name := range names {
		sub, err := fs.Sub(root, name)
		if err != nil {
			return nil, fmt.Errorf("sample %s: %w", name, err)
		}
		folder, err := ReadFolder(sub)
		if err != nil {
			return nil, fmt.Errorf("sample %s: %w", name, err)
		}
		a := folder.Agent
		if a.Title == nil || a.Description == nil || a.Language == nil || a.Name == nil {
			return nil, fmt.Errorf("sample %s: name, title, description and language are required", name)
		}
		samples = append(samples, Sample{Name: name, Title: *a.Title, Description: *a.Description, Language: *a.Language, Input: folder.Example, Agent: a})
	}
	return samples, nil
}

// SampleNames lists the samples in display order.
func SampleNames() []string {
	return []string{"weather-ts", "invoice-ts", "webhook-js", "csv-python", "progress-python", "logs-bash"}
}
