package seccomp_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/atelier-run/atelier/runtimes/sandbox/seccomp"
)

// TestForks checks for every call number that the stricter result of the two filters equals the result of the complete
// filter. It uses arguments that match and arguments that do not match each check.
func TestForks(t *testing.T) {
	t.Parallel()
	bare := seccomp.Policy{Rules: map[string]seccomp.Rule{}, Default: seccomp.Errno(38)}
	for arch, audit := range map[seccomp.Arch]uint32{seccomp.AMD64: auditAMD64, seccomp.ARM64: auditARM64} {
		for name, policy := range map[string]seccomp.Policy{
			"program": seccomp.Program(), "without files in memory": seccomp.Program().Refuse("memfd_create"), "alone": seccomp.Alone(), "no rules": bare,
		} {
			t.Run(name+" on "+string(arch), func(t *testing.T) {
				t.Parallel()
				first, second := seccomp.Forks(policy)
				whole, server, child := machine(t, policy, arch), machine(t, first, arch), machine(t, second, arch)
				same := func(c call) {
					if got, want := stricter(child(c), server(c)), whole(c); got != want {
						t.Errorf("%+v: %#x, want %#x", c, got, want)
					}
				}
				interesting := map[uint32][]seccomp.Check{}
				for name, rule := range policy.Rules {
					if number, ok := arch.Number(name); ok {
						interesting[number] = rule.Checks
					}
				}
				for number := range uint32(1024) {
					for _, arguments := range around(interesting[number]) {
						same(call{audit, number, arguments})
					}
				}
				for _, number := range []uint32{0x40000000 - 1, 0x40000000, 0x40000000 + 165, 0xffffffff} {
					same(call{audit: audit, number: number})
				}
				for _, number := range slices.Sorted(maps.Keys(interesting)) {
					same(call{audit: auditI386, number: number})
				}
			})
		}
	}
}

// stricter returns the result that the kernel uses for two filters: the lower action, compared as signed numbers. If the
// actions are equal, the filter installed later decides.
func stricter(later, earlier seccomp.Action) seccomp.Action {
	const action = 0xffff0000
	if int32(earlier&action) < int32(later&action) {
		return earlier
	}
	return later
}

// around returns arguments that produce each combination of check results: the checked values, other values close to them,
// and the same with higher bits set.
func around(checks []seccomp.Check) [][6]uint64 {
	all := [][6]uint64{{}, args(none, none, none, none, none, none)}
	for _, check := range checks {
		var more [][6]uint64
		for _, value := range []uint64{0, 1, none, uint64(check.Value), uint64(check.Value) ^ 1, uint64(^check.Mask), uint64(check.Value | ^check.Mask)} {
			for _, above := range []uint64{0, 0xdeadbeef00000000} {
				for _, arguments := range all {
					arguments[check.Arg] = above | value
					more = append(more, arguments)
				}
			}
		}
		slices.SortFunc(more, func(a, b [6]uint64) int { return slices.Compare(a[:], b[:]) })
		all = slices.Compact(append(more, all...))
	}
	return all
}

const none = ^uint64(0)

// TestForksNeedBoth checks that each of the two filters alone allows a call that the complete filter refuses. Other tests
// use these calls to detect a child with only one filter.
func TestForksNeedBoth(t *testing.T) {
	t.Parallel()
	server, child := seccomp.Forks(seccomp.Program())
	mount, ptrace := call{audit: auditAMD64, number: 165}, call{audit: auditAMD64, number: 101}
	for name, tt := range map[string]struct {
		policy seccomp.Policy
		call   call
		want   seccomp.Action
	}{
		"a fork server may mount":       {server, mount, seccomp.Allow},
		"a fork server does not trace":  {server, ptrace, seccomp.Errno(1)},
		"a child does not mount":        {child, mount, seccomp.Errno(1)},
		"of a child, somebody else may": {child, ptrace, seccomp.Allow},
	} {
		if got := run(t, tt.policy, seccomp.AMD64, tt.call); got != tt.want {
			t.Errorf("%s: %#x, want %#x", name, got, tt.want)
		}
	}
}
