package cgroups

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// These tests are in package cgroups itself, because only its internal functions accept simulated /proc files.

func TestHierarchies(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		groups, mounts string
		want           []hierarchy
	}{
		"version 2 in a systemd unit": {
			groups: "0::/system.slice/atelier.service\n",
			mounts: "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
			want:   []hierarchy{{unified: true, dir: "/sys/fs/cgroup/system.slice/atelier.service"}},
		},
		"version 2 in a container with its own namespace": {
			groups: "0::/\n",
			mounts: "700 600 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
			want:   []hierarchy{{unified: true, dir: "/sys/fs/cgroup"}},
		},
		"version 1 in a container that sees its part at the mount": {
			groups: "4:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n0::/\n",
			mounts: "40 30 0:30 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" +
				"41 30 0:31 /docker/abc /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n",
			want: []hierarchy{
				{controllers: []string{"rw", "memory"}, dir: "/sys/fs/cgroup/memory"},
				{controllers: []string{"rw", "cpu", "cpuacct"}, dir: "/sys/fs/cgroup/cpu,cpuacct"},
			},
		},
		"hybrid": {
			groups: "8:pids:/a\n4:memory:/b c\n1:name=systemd:/x\n0::/u\n",
			mounts: "32 31 0:29 / /cg/pids rw - cgroup cgroup rw,pids\n33 31 0:32 / /cg/mem\\040ory rw - cgroup cgroup rw,memory\n" +
				"34 31 0:33 / /cg/systemd rw - cgroup cgroup rw,xattr,name=systemd\n41 31 0:38 / /cg/unified rw - cgroup2 cgroup2 rw\n" +
				"42 31 0:39 / /proc rw - proc proc rw\n",
			want: []hierarchy{
				{controllers: []string{"rw", "pids"}, dir: "/cg/pids/a"},
				{controllers: []string{"rw", "memory"}, dir: "/cg/mem ory/b c"},
				{controllers: []string{"rw", "xattr", "name=systemd"}, dir: "/cg/systemd/x"},
				{unified: true, dir: "/cg/unified/u"},
			},
		},
		"our group is outside of what we see": {
			groups: "0::/../../other\n",
			mounts: "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
		},
		"nothing mounted": {groups: "0::/\n", mounts: "1 1 8:1 / / rw - ext4 /dev/sda rw\nrubbish\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := hierarchies(strings.NewReader(tt.groups), strings.NewReader(tt.mounts))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(hierarchy{})); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := hierarchies(strings.NewReader("rubbish\n"), strings.NewReader("")); err == nil {
		t.Error("a file of unknown format is not an error")
	}
}
