import errno
import os
import resource
import socket
import sys


def read(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def names(path):
    try:
        return sorted(os.listdir(path))
    except OSError:
        return []


def link(path):
    try:
        return os.readlink(path)
    except OSError:
        return "gone"


def answer(call, *arguments):
    try:
        call(*arguments)
    except OSError as error:
        return errno.errorcode[error.errno]
    return "success"


def section(name, text):
    print("@@ " + name)
    print(text)


def main():
    section("status", read("/proc/self/status"))
    section("limits", read("/proc/self/limits"))
    section("mounts", read("/proc/self/mountinfo"))
    section("network", read("/proc/self/net/dev"))
    section("processes", "\n".join(p + " " + read(f"/proc/{p}/comm").strip() for p in names("/proc") if p.isdigit()))
    section("descriptors", "\n".join(n + " " + link("/proc/self/fd/" + n) for n in names("/proc/self/fd")))
    section("calls", "\n".join([
        "AF_NETLINK " + answer(socket.socket, socket.AF_NETLINK, socket.SOCK_RAW),
        "RLIMIT_CORE " + answer(resource.prlimit, 0, resource.RLIMIT_CORE, (0, 0)),
    ]))
    section("environment", "\n".join(f"{k}={v}" for k, v in os.environ.items()))
    section("root", "\n".join(names("/")))
    section("hostname", os.uname().nodename)
    section("user", str(os.getuid()))
    section("version", sys.version.split()[0])
