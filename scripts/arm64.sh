#!/usr/bin/env bash
# Runs the tests of the machine code for arm64 in an emulated arm64 machine. The machine has a kernel, Python and Bash
# of Debian. "arm64.sh doctor" also runs `atelier doctor` there, which takes 4 minutes. The exit code is 77 if the
# emulator or the packages are missing.
set -euo pipefail
cd "$(dirname "$0")/.."
cached=${XDG_CACHE_HOME:-$HOME/.cache}/atelier-test/arm64

# fetch downloads the packages. It uses separate package lists, so that the package lists of this machine do not change.
fetch() {
  [ ! -f "$cached/done" ] || return 0
  rm -rf "$cached"
  mkdir -p "$cached"/{lists/partial,cache/archives/partial,debs,root}
  touch "$cached/status"
  cat >"$cached/apt.conf" <<CONF
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "";
Dir::State "$cached";
Dir::State::lists "$cached/lists";
Dir::State::status "$cached/status";
Dir::Cache "$cached/cache";
CONF
  export APT_CONFIG=$cached/apt.conf
  apt-get update
  (
    cd "$cached/debs"
    python=$(apt-cache depends python3-minimal | awk '/Depends: python3\.[0-9]+-minimal/ { print $2; exit }')
    apt-get download "$(apt-cache depends linux-image-cloud-arm64 | awk '/Depends:/ { print $2; exit }')" \
      "$python" "lib$python" "lib${python%-minimal}-stdlib" libc6 libgcc-s1 zlib1g libexpat1 libffi8 libssl3 libbz2-1.0 liblzma5 libuuid1 \
      libcrypt1 libsqlite3-0 libncursesw6 libreadline8 libtinfo6 bash coreutils libacl1 libattr1 libgmp10 libselinux1 libpcre2-8-0 util-linux
    ln -s "${python%-minimal}" "$cached/python3"
    for package in *.deb; do dpkg-deb -x "$package" "$cached/root"; done
  )
  mv "$cached"/root/boot/vmlinuz-* "$cached/kernel"
  rm -rf "$cached"/root/{boot,lib/modules,usr/share/{doc,man,locale}}
  for folder in bin sbin lib; do # as an installed system has them
    mkdir -p "$cached/root/usr/$folder"
    [ ! -d "$cached/root/$folder" ] || cp -a "$cached/root/$folder/." "$cached/root/usr/$folder/"
    rm -rf "${cached:?}/root/$folder"
    ln -s "usr/$folder" "$cached/root/$folder"
  done
  mv "$cached/python3" "$cached/root/usr/bin/python3"
  mkdir -p "$cached"/root/{proc,sys,dev,tmp,run,root,tests,var/tmp}
  printf 'root:x:0:0::/root:/bin/bash\nnobody:x:65534:65534::/:/bin/false\n' >"$cached/root/etc/passwd"
  printf 'root:x:0:\nnogroup:x:65534:\n' >"$cached/root/etc/group"
  rm -rf "$cached"/{debs,lists,cache}
  touch "$cached/done"
}

for program in apt-get dpkg-deb qemu-system-aarch64 cpio; do
  command -v "$program" >/dev/null || { echo "$program is not on this machine" >&2; exit 77; }
done
mkdir -p "$(dirname "$cached")"
log=$(mktemp)
work=$(mktemp -d)
trap 'rm -rf "$work" "$log"' EXIT
fetch >"$log" 2>&1 || { tail -n 5 "$log" >&2; exit 77; }

mkdir -p "$work/system"
cp -a "$cached/root/." "$work/system/"
export GOARCH=arm64 CGO_ENABLED=0
go build -trimpath -o "$work/init" ./scripts/arm64
go test -c -trimpath -buildmode=pie -o "$work/system/tests/child" ./runtimes/sandbox/child
go test -c -trimpath -buildmode=pie -o "$work/system/tests/seccomp" ./runtimes/sandbox/seccomp
printf '%s\n' 'cd /tests && ./child -test.v' 'cd /tests && ./seccomp -test.v' >"$work/system/tests/run"
if [ "${1:-}" = doctor ]; then
  go build -trimpath -buildmode=pie -o "$work/system/tests/atelier" .
  echo '/tests/atelier doctor || [ $? = 1 ] # the kernel of Debian has an older Landlock, so its verdict is REDUCED' >>"$work/system/tests/run"
fi
(cd "$work" && find init system | cpio --quiet -o -H newc | gzip -1) >"$work/files.gz"
timeout 900 qemu-system-aarch64 -M virt -cpu cortex-a72 -smp 2 -m 2048 -nographic -nic none -no-reboot \
  -kernel "$cached/kernel" -initrd "$work/files.gz" -append "console=ttyAMA0 quiet panic=-1" </dev/null | tee "$work/output"
if grep -q '^FAIL' "$work/output"; then exit 1; fi
grep -q '^ok  *cd /tests.*seccomp' "$work/output" # the last tests were reached
