package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/cgroups"
)

// environment adds checks for the features of the host that sandboxes use. Missing features come first.
func (d *Doctor) environment() {
	d.lacks()
	for _, c := range judge(d.Look(), d.Box.Level(), d.Box.Host()) {
		d.add(c)
	}
}

// lacks adds a check for each feature that the sandbox needs and the host does not have. Each check contains a fix.
func (d *Doctor) lacks() {
	level := d.Box.Level()
	for i, lack := range level.Lacks {
		c := Check{Group: Environment, Name: "sandbox", Verdict: Reduced, Evidence: lack.Effect, Fix: lack.Remedy, Mechanism: lack.Mechanism}
		if lack.Mechanism != "" {
			c.Name = "sandbox: " + lack.Mechanism
		}
		if i == 0 && level.Level == sandbox.LevelNone {
			c.Verdict = Fail
		}
		d.checks = append(d.checks, c) // not d.add, because add reads this list
		d.Report(c)
	}
	if level.Level == sandbox.LevelFull {
		d.add(Check{Group: Environment, Name: "sandbox", Verdict: Pass, Evidence: "A sandbox was created with all mechanisms: namespaces, a separate user, private root, landlock, seccomp, control groups."})
	}
}

// judge returns the checks for the facts about the host.
func judge(f Facts, level sandbox.Level, host sandbox.Host) []Check {
	env := func(name string, v Verdict, fix, format string, args ...any) Check {
		if v == Pass {
			fix = ""
		}
		return Check{Group: Environment, Name: name, Verdict: v, Evidence: fmt.Sprintf(format, args...), Fix: fix}
	}
	checks := []Check{kernelCheck(f, env), userCheck(f, env), seccompCheck(f, env), landlockCheck(f, host, env), namespaceCheck(f, level, env)}
	checks = append(checks, groupChecks(f, host, env)...)
	checks = append(checks, settingChecks(f, env)...)
	checks = append(checks, fileCheck("binary", f.Binary, f.UID, env))
	for _, file := range f.Interpreters {
		checks = append(checks, fileCheck("interpreter "+filepath.Base(file.Path), file, f.UID, env))
	}
	return checks
}

type environmentCheck func(name string, v Verdict, fix, format string, args ...any) Check

func kernelCheck(f Facts, env environmentCheck) Check {
	var major, minor int
	_, err := fmt.Sscanf(f.Kernel, "%d.%d", &major, &minor)
	fits := err == nil && (major > 5 || major == 5 && minor >= 12)
	return env("kernel", verdict(fits), "Use Linux 5.12 or later.", "Linux %s on %s", f.Kernel, f.Machine)
}

func userCheck(f Facts, env environmentCheck) Check {
	if f.UID == 0 {
		return env("user", Pass, "", "uid 0 with capabilities %s: each active run has its own host user", f.Capabilities)
	}
	return env("user", Pass, "", "uid %d with capabilities %s", f.UID, f.Capabilities)
}

func seccompCheck(f Facts, env environmentCheck) Check {
	actions := strings.Fields(f.Actions)
	fits := slices.Contains(actions, "kill_process") && slices.Contains(actions, "errno")
	return env("seccomp", verdict(fits), "Use a kernel with CONFIG_SECCOMP_FILTER, 4.14 or later.", "the kernel offers: %s", orNone(f.Actions))
}

func landlockCheck(f Facts, host sandbox.Host, env environmentCheck) Check {
	modules := ""
	if f.Modules != "" {
		modules = ", security modules " + f.Modules
	}
	if host.Landlock == 0 {
		return env("landlock", Reduced, "Add landlock to the boot parameter lsm=.", "not available%s", modules)
	}
	return env("landlock", Pass, "", "interface version %d%s", host.Landlock, modules)
}

// namespaceCheck checks the settings that forbid user namespaces. If such a setting exists but sandboxes work, the
// check passes.
func namespaceCheck(f Facts, level sandbox.Level, env environmentCheck) Check {
	var values []string
	fix := ""
	for _, s := range []struct {
		setting, bad, fix string
		root              bool // this setting also applies to root
	}{
		{"user/max_user_namespaces", "0", "sysctl user.max_user_namespaces=10000", true},
		{"kernel/unprivileged_userns_clone", "0", "sysctl kernel.unprivileged_userns_clone=1", false},
		{"kernel/apparmor_restrict_unprivileged_userns", "1", "an AppArmor profile with the rule `userns,` for this binary, or sysctl kernel.apparmor_restrict_unprivileged_userns=0", false},
	} {
		value, there := f.Settings[s.setting]
		if !there {
			continue
		}
		values = append(values, dotted(s.setting)+"="+value)
		if value == s.bad && (s.root || f.UID != 0) && level.Level == sandbox.LevelNone {
			fix = "Use " + s.fix + "."
		}
	}
	return env("user namespaces", verdict(fix == ""), fix, "%s", orNone(strings.Join(values, ", ")))
}

func groupChecks(f Facts, host sandbox.Host, env environmentCheck) []Check {
	writable, swap := []string{}, false
	for _, g := range f.Groups {
		if g.Writable {
			writable = append(writable, g.Dir)
		}
		swap = swap || g.Swap
	}
	groups := env("control groups", Pass, "", "%s; writable: %s", host.Cgroups, orNone(strings.Join(writable, " ")))
	if host.Cgroups == cgroups.None {
		groups.Verdict = Reduced
		groups.Fix = "Run the server as root, or in a systemd unit with Delegate=yes (to try it: systemd-run --user --scope -p Delegate=yes atelier serve)."
	}
	if host.Cgroups == cgroups.V1 {
		groups.Evidence += "; processes are killed by freezing because cgroup.kill (Linux 5.14) is missing"
	}
	memory := env("swap", Pass, "", "no swap on this host")
	switch {
	case f.Swap && (swap || host.Cgroups == cgroups.None):
		memory.Evidence = "swap counts as memory of a run"
	case f.Swap:
		memory = env("swap", Reduced, "Start the kernel with swapaccount=1, or run swapoff -a.", "swap is not counted, so a run may use all of it")
	}
	return []Check{groups, memory}
}

// settingChecks returns checks for settings that do not affect sandboxes. The evidence explains why they do not.
func settingChecks(f Facts, env environmentCheck) []Check {
	yama, there := f.Settings["kernel/yama/ptrace_scope"]
	if !there {
		yama = "not available"
	}
	core := f.Settings["kernel/core_pattern"]
	cores := "a file, which sandboxes cannot write"
	if strings.HasPrefix(core, "|") {
		cores = "a helper on the host; the core limit of sandboxes prevents its use"
	}
	return []Check{
		env("yama", Pass, "", "ptrace_scope %s; seccomp denies ptrace and similar calls", yama),
		env("core dumps", Pass, "", "core_pattern %q: %s", core, cores),
		env("protected links", Pass, "", "symlinks=%s hardlinks=%s; Atelier stores nothing in folders that others can write",
			orNone(f.Settings["fs/protected_symlinks"]), orNone(f.Settings["fs/protected_hardlinks"])),
	}
}

// fileCheck checks that other users cannot replace a program that sandboxes start.
func fileCheck(name string, file File, uid int, env environmentCheck) Check {
	switch {
	case file.Err != "":
		return env(name, Fail, "Make sure that it exists and is readable.", "%s: %s", file.Path, file.Err)
	case file.Loose != "":
		at, _, _ := strings.Cut(file.Loose, " (")
		return env(name, Reduced, fmt.Sprintf("chown root:root %s && chmod go-w %s", at, at), "%s can be changed by others through %s", file.Path, file.Loose)
	case uid != 0 && file.Owner == uid:
		return env(name, Pass, "", "%s, of the server's own user, mode %04o", file.Real, file.Mode.Perm())
	}
	return env(name, Pass, "", "%s, of uid %d, mode %04o", file.Real, file.Owner, file.Mode.Perm())
}

func dotted(setting string) string { return strings.ReplaceAll(setting, "/", ".") }

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// hostname returns the host's name, which no program may learn.
func hostname() string {
	name, _ := os.Hostname() // on an error the name is "", which never equals the sandbox's name
	return name
}
