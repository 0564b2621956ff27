package skills

import (
	"context"
	"io/fs"
	"log/slog"

	"github.com/atelier-run/atelier/registry"
	folders "github.com/atelier-run/atelier/registry/skills"
	"github.com/atelier-run/atelier/studio/agents"
)

// These limit the folders that are in memory at the same time to be inspected together.
const (
	atOnce      = 32
	atOnceBytes = 16 << 20
)

// intake loads many folders. It reads all installed skills with two queries. It skips folders whose skill is installed
// with the same digest, and inspects all other folders together.
type intake struct {
	service *Service
	origin  registry.SkillOrigin
	report  func(folder string, err error)

	skills  map[string]registry.Skill // installed skills, by the key of the skill's name
	latest  map[string]registry.Version
	waiting []arrival
	bytes   int
}

// arrival is a folder that must be installed.
type arrival struct {
	folder string
	skill  folders.Skill
}

func (s *Service) newIntake(ctx context.Context, origin registry.SkillOrigin, report func(folder string, err error)) *intake {
	in := &intake{service: s, origin: origin, report: report, skills: map[string]registry.Skill{}}
	known, err := s.Store.Skills(ctx, systemActor().Workspace)
	if err == nil {
		in.latest, err = s.Store.LatestOfSkills(ctx, systemActor().Workspace)
	}
	if err != nil && ctx.Err() == nil { // After this error, each folder is loaded separately and reports its own problems.
		s.Log.LogAttrs(ctx, slog.LevelWarn, "look up what is installed", slog.Any("error", err))
	}
	for _, skill := range known {
		in.skills[registry.NameKey(skill.Name)] = skill
	}
	return in
}

// offer adds a folder to the intake. If err is not nil, it reports this error.
func (in *intake) offer(ctx context.Context, folder fs.FS, name string, err error) {
	var sk folders.Skill
	if err == nil {
		sk, err = read(folder, name)
	}
	if err != nil || in.holds(sk) {
		in.report(name, err)
		return
	}
	size := 0
	for _, content := range sk.Spec.Files {
		size += len(content)
	}
	if len(in.waiting) == atOnce || in.bytes+size > atOnceBytes {
		in.take(ctx)
	}
	in.waiting, in.bytes = append(in.waiting, arrival{name, sk}), in.bytes+size
}

// holds reports whether a folder needs no change. This is so if its skill is installed with the same content, or if its
// skill is uninstalled, because then the database decides.
func (in *intake) holds(sk folders.Skill) bool {
	skill, ok := in.skills[registry.NameKey(sk.Settings.Name)]
	if !ok || skill.Uninstalled {
		return ok
	}
	v, ok := in.latest[skill.AgentID]
	if !ok || v.Version != sk.Settings.Version || skill.Handler != sk.Settings.Handler {
		return false
	}
	same, _, err := in.service.same(v, sk, skill)
	return err == nil && same
}

// take installs the folders that were collected.
func (in *intake) take(ctx context.Context) {
	programs := make([]agents.Program, 0, len(in.waiting))
	for _, a := range in.waiting {
		programs = append(programs, programOf(a.skill))
	}
	for n, seen := range in.service.Agents.Inspect(ctx, systemActor(), programs...) {
		a := in.waiting[n]
		in.report(a.folder, in.service.enter(ctx, a.skill, a.folder, in.origin, &seen))
	}
	in.waiting, in.bytes = nil, 0
}
