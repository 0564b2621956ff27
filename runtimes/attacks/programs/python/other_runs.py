import ctypes
import glob
import os
import socket


def main(input, ctx):
    mark, found = os.environ["MARK"], []
    for path in ("/tmp/" + mark, "/dev/shm/" + mark, "/var/tmp/" + mark, "/usr/" + mark, "/work/" + mark):
        if os.path.exists(path):
            found.append(path)
    for path in glob.glob("/proc/[0-9]*/comm"):
        try:
            with open(path) as f:
                if f.read().strip() == mark[:15]:
                    found.append(path)
        except OSError:
            pass
    try:
        s = socket.socket(socket.AF_UNIX)
        s.connect("\0" + mark)
        found.append("abstract socket")
    except OSError:
        pass
    for name in ("shmids", "queues"):
        try:
            if os.listdir("/dev/" + name):
                found.append(name)
        except OSError:
            pass
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.shmget(0x41544C52, 4096, 0o1600) != -1:
        found.append("shared memory of System V")
    others = [pid for pid in os.listdir("/proc") if pid.isdigit() and int(pid) not in (1, os.getpid())] if os.path.isdir("/proc") else []
    if others:
        found.append("processes " + " ".join(sorted(others)[:5]))
    return found
