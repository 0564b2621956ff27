import fcntl
import os
import socket
import sys
import time

# Two workspaces of the doctor try to communicate. The first one leaves something in each place, and the second one
# looks for it.
FILE = "/usr/bin/env"


def report(place, way, reached, detail=""):
    print(f"{place}\t{way}\t{'reached' if reached else 'refused'}\t{detail}")


def attempt(place, way, search):
    try:
        report(place, way, search())
    except Exception as error:
        report(place, way, False, f"{type(error).__name__}: {error}")


def datagram():
    """Returns a socket for abstract names. It is one of a pair, because other sockets are refused."""
    import ctypes

    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    kept.append(other)
    ctypes.CDLL(None).connect(one.fileno(), bytes(16), 16)  # to AF_UNSPEC, which separates the pair
    one.settimeout(1)
    return one


def written(path, text):
    with open(path, "w") as file:
        file.write(text)


def lock():
    """Returns whether the file can be locked, or the lock is refused because another process holds it."""
    file = open(FILE)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    kept.append(file)
    return True


def bound(kind, port):
    s = socket.socket(socket.AF_INET, kind)
    s.bind(("127.0.0.1", port))
    if kind == socket.SOCK_STREAM:
        s.listen()
    kept.append(s)


def named(name):
    s = datagram()
    s.bind("\0" + name)
    kept.append(s)


def taken(kind, port):
    try:
        bound(kind, port)
    except OSError as error:
        return error.errno == 98  # the address is in use


def listed(port):
    found = []
    for table in ("tcp", "udp"):
        with open("/proc/self/net/" + table) as file:
            found += [line for line in file if f":{port:04X} " in line]
    return bool(found)


kept = []


def quietly(do, *arguments):
    try:
        do(*arguments)
    except Exception:
        pass


def first(port, name):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        quietly(bound, kind, port)
    quietly(named, name)
    quietly(lock)
    quietly(written, "/proc/self/projid_map", "7 0 1\n")
    print("ready")
    sys.stdout.flush()
    time.sleep(3600)


def second(port, name):
    attempt("ports", "the list of sockets", lambda: listed(port))
    attempt("ports", "connect", lambda: socket.create_connection(("127.0.0.1", port), 1))
    attempt("ports", "a port in use, tcp", lambda: taken(socket.SOCK_STREAM, port))
    attempt("ports", "a port in use, udp", lambda: taken(socket.SOCK_DGRAM, port))
    attempt("abstract sockets", "a datagram pair", lambda: datagram().connect("\0" + name) is None)
    attempt("locks", "flock", lock)
    with open("/proc/self/projid_map") as file:
        report("maps", "project ids", file.read().split()[:1] == ["7"])


def main(input):
    (first if input["first"] else second)(input["port"], input["name"])
