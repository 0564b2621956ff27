import ctypes
import errno
import os
import platform
import socket


def main(input, ctx):
    """Makes system calls that no program needs, with nearly harmless arguments. The filter must answer EPERM, ENOSYS or
    EACCES."""
    libc, found, arch = ctypes.CDLL(None, use_errno=True), [], 0 if platform.machine() == "x86_64" else 1
    with open("/proc/self/status") as f:
        for line in f:
            name, _, value = line.partition(":")
            if name in ("CapEff", "CapPrm", "CapBnd", "CapAmb") and int(value, 16) != 0 or name == "NoNewPrivs" and value.strip() != "1":
                found.append(name)
    calls = {
        "ptrace": (101, 117, 0), "unshare": (272, 97, 0x10000000), "keyctl": (250, 219, 0, -3, 1), "add_key": (248, 217, b"user", b"x", b"x", 1, -3),
        "io_uring_setup": (425, 425, 1, -1), "process_vm_readv": (310, 270, os.getpid(), 0, 0, 0, 0, 0), "pidfd_getfd": (438, 438, -1, 0, 0),
        "memfd_secret": (447, 447, 0), "personality": (135, 92, 0x40000), "shmget": (29, 194, 0, 4096, 0o1600), "inotify_init1": (294, 26, 0),
        "userfaultfd": (323, 282, 0), "perf_event_open": (298, 241, 0, 0, 0, 0, 0), "bpf": (321, 280, -1, 0, 0), "mount": (165, 40, b"none", b"/tmp", b"tmpfs", 0, 0),
        "setns": (308, 268, -1, 0), "chroot": (161, 51, b"/"), "open_by_handle_at": (304, 265, -1, 0, 0), "kcmp": (312, 272, 1, 1, 0, 0, 0),
    }
    for name, (x86, arm, *args) in calls.items():
        ctypes.set_errno(0)
        if libc.syscall((x86, arm)[arch], *args) != -1 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS, errno.EACCES):
            found.append(name)
    for family in ("AF_NETLINK", "AF_VSOCK", "AF_ALG", "AF_UNIX"):
        try:
            socket.socket(getattr(socket, family), socket.SOCK_RAW if family == "AF_NETLINK" else socket.SOCK_SEQPACKET if family == "AF_ALG" else socket.SOCK_STREAM)
            found.append(family)
        except OSError:
            pass
    if os.getuid() == 0 or os.geteuid() == 0:
        found.append("root")
    return found
