package skillsapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/studio/skills"
)

// skillMetadata describes a skill that can be called.
type skillMetadata struct {
	Name             string          `json:"name"`
	Version          string          `json:"version"`
	Description      string          `json:"description"`
	SafetyFlags      []string        `json:"safety_flags"`
	RequiresApproval bool            `json:"requires_approval"`
	InputSchema      json.RawMessage `json:"input_schema"`
	OutputSchema     json.RawMessage `json:"output_schema"`
	HandlerPath      string          `json:"handler_path"`
	Tags             []string        `json:"tags"`
	CreatedAt        time.Time       `json:"created_at"`
}

func metadataOf(e skills.Entry) skillMetadata {
	v := e.Version
	return skillMetadata{
		Name: e.Name, Version: v.Version, Description: v.Description, SafetyFlags: v.SafetyFlags, RequiresApproval: v.RequiresApproval,
		InputSchema: v.InputSchema, OutputSchema: v.OutputSchema, HandlerPath: e.Handler, Tags: e.Tags, CreatedAt: v.PublishedAt,
	}
}

// skillListing is the answer to GET /skills/list.
type skillListing struct {
	Skills []skillMetadata `json:"skills"`
	Total  int             `json:"total"`
}

type skillSchemas struct {
	SkillName    string          `json:"skill_name"`
	Version      string          `json:"version"`
	InputSchema  json.RawMessage `json:"input_schema"`
	OutputSchema json.RawMessage `json:"output_schema"`
}

func safetyFlags() []string {
	return []string{"none", "pii_risk", "external_call", "side_effect", "file_system", "network_access"}
}

func (d *API) listSkills(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	flag := query.Get("safety_flag")
	if flag != "" && !slices.Contains(safetyFlags(), flag) {
		err := fault.Invalid("", "query parameter safety_flag: must be one of %s.", strings.Join(safetyFlags(), ", "))
		d.refuse(w, r, err, []map[string]any{{"type": "enum", "loc": []string{"query", "safety_flag"}, "msg": "Input should be one of " + strings.Join(safetyFlags(), ", ")}})
		return
	}
	entries, err := d.Skills.List(r.Context(), actor(r))
	if err != nil {
		d.refuse(w, r, err, nil)
		return
	}
	found := []skillMetadata{}
	for _, e := range entries {
		if e.Version == nil || flag != "" && !slices.Contains(e.Version.SafetyFlags, flag) {
			continue
		}
		if wanted := query["tags"]; len(wanted) > 0 && !slices.ContainsFunc(wanted, func(tag string) bool { return slices.Contains(e.Tags, tag) }) {
			continue
		}
		found = append(found, metadataOf(e))
	}
	d.write(w, r, http.StatusOK, skillListing{found, len(found)})
}

// named returns the skill that a path names. If there is no such skill, it answers with an error.
func (d *API) named(w http.ResponseWriter, r *http.Request) (skillMetadata, bool) {
	id := chi.URLParam(r, "id")
	e, err := d.Skills.Find(r.Context(), actor(r), id)
	if err == nil && e.Version == nil {
		err = fault.New(fault.NotFound, "Skill not found: %s", e.Name)
	}
	if err != nil {
		d.refuse(w, r, err, nil)
		return skillMetadata{}, false
	}
	return metadataOf(e), true
}

func (d *API) getSkill(w http.ResponseWriter, r *http.Request) {
	if m, ok := d.named(w, r); ok {
		d.write(w, r, http.StatusOK, m)
	}
}

func (d *API) getSchema(w http.ResponseWriter, r *http.Request) {
	if m, ok := d.named(w, r); ok {
		d.write(w, r, http.StatusOK, skillSchemas{m.Name, m.Version, m.InputSchema, m.OutputSchema})
	}
}

// tokens splits a JSON pointer into its tokens.
func tokens(pointer string) []string {
	if pointer == "" {
		return nil
	}
	parts := strings.Split(pointer[1:], "/")
	for i, p := range parts {
		parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(p)
	}
	return parts
}
