import os


def main(input, ctx):
    found = []
    canary = os.environ["CANARY"]
    paths = [
        canary, "/proc/self/root" + canary, "/proc/1/root" + canary, "/usr/.." + canary, "/work/../.." + canary, "/etc/shadow", "/etc/machine-id",
        "/root", "/home", "/var/lib", "/run", "/boot", "/sys/kernel", "/proc/1/mem", "/proc/kcore",
        "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/keys", "/proc/kallsyms", "/proc/cmdline", "/dev/vda", "/dev/mem", "/dev/kmsg",
    ]
    for path in paths:
        try:
            if os.path.isdir(path):
                if os.listdir(path):
                    found.append(path)
            else:
                with open(path, "rb") as f:
                    f.read(1)
                found.append(path)
        except OSError:
            pass
    for path in [canary, canary + ".new", "/x", "/usr/x", "/usr/bin/x", "/etc/x", "/etc/passwd", "/dev/x", "/var/x", "/bin/x"]:
        try:
            open(path, "a").close()
            found.append("writes " + path)
        except OSError:
            pass
    try:
        os.symlink(canary, "/work/link")
        open("/work/link").read()
        found.append("a link")
    except OSError:
        pass
    return found
