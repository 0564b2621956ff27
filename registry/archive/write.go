package archive

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/atelier-run/atelier/registry"
)

// Writer writes an archive: each agent followed by its versions, in the order given to NewWriter.
type Writer struct {
	zip *gzip.Writer
	tar *tar.Writer
}

// NewWriter starts an archive of agents with these names.
func NewWriter(w io.Writer, agents []string) (*Writer, error) {
	zip := gzip.NewWriter(w)
	a := &Writer{zip: zip, tar: tar.NewWriter(zip)}
	return a, a.document(rootFile, Contents{Format: Format, Agents: append([]string{}, agents...)})
}

// Agent writes an agent and the files of its draft.
func (w *Writer) Agent(a Agent) error {
	files := a.Draft.Files
	a.Draft.Files = nil
	a.FormerNames, a.Tags, a.Versions = append([]string{}, a.FormerNames...), append([]string{}, a.Tags...), append([]string{}, a.Versions...)
	if err := w.document(agentPath(a.Name)+agentFile, a); err != nil {
		return err
	}
	return w.files(agentPath(a.Name)+"draft/", files)
}

// Version writes a version of the agent that the last call of Agent wrote. agent is the current name of this agent.
func (w *Writer) Version(agent string, v registry.Version) error {
	files := v.Files
	v.Files = nil
	document := version{Version: v, Publisher: Actor{ID: v.Publisher.ID, Type: v.Publisher.Type, Name: v.Publisher.Name}}
	if err := w.document(versionPath(agent, v.Version)+versionFile, document); err != nil {
		return err
	}
	return w.files(versionPath(agent, v.Version)+"files/", files)
}

// Close writes the end of the archive.
func (w *Writer) Close() error { return errors.Join(w.tar.Close(), w.zip.Close()) }

func (w *Writer) files(folder string, files map[string]registry.File) error {
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if err := w.entry(folder+path, files[path]); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) document(path string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return w.entry(path, append(text, '\n'))
}

// entry writes a file. The time and mode in its header are constants, so that equal content gives equal archives on all
// machines.
func (w *Writer) entry(path string, content []byte) error {
	header := tar.Header{Typeflag: tar.TypeReg, Name: path, Mode: 0o644, Size: int64(len(content)), ModTime: time.Unix(0, 0), Format: tar.FormatPAX}
	if err := w.tar.WriteHeader(&header); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err := w.tar.Write(content)
	return err
}
