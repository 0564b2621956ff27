import os
import socket


def attempt(canary, way, search):
    try:
        value = search()
    except Exception as error:
        print(f"{canary}\t{way}\trefused\t{type(error).__name__}: {error}")
        return
    print(f"{canary}\t{way}\t{'reached' if value else 'refused'}\t{value!r:.200}")


def read(path):
    with open(path, "rb") as file:
        return file.read(4096)


def names(path):
    try:
        return os.listdir(path)
    except OSError:
        return []


def connect(family, kind, address):
    with socket.socket(family, kind) as s:
        s.settimeout(1)
        s.connect(address)
        if kind == socket.SOCK_DGRAM:  # only a sent datagram proves anything
            s.send(b"x")
        return address


def leaked(paths):
    return [(path, text) for path in paths for text in [quiet(path)] if text]


def quiet(path):
    try:
        return read(path)
    except OSError:
        return b""


def main(input):
    file = input["file"]
    for prefix in ("", "/proc/1/root", "/proc/self/root", "/proc/1/cwd/../../../..", "../../../../../../..", "/usr/../../..", "/dev/fd/../../../.."):
        attempt("file", prefix or "its path", lambda: read(prefix + file))
    attempt("file", "a link", lambda: (os.symlink(file, "/tmp/link"), read("/tmp/link")))
    attempt("file", "its folder", lambda: os.listdir(os.path.dirname(file)))

    for path in input["usr"]:
        attempt("settings in /usr", path, lambda: names(path) or quiet(path))

    for address in input["addresses"]:
        attempt("network", "tcp " + address, lambda: connect(socket.AF_INET, socket.SOCK_STREAM, (address, input["tcp"])))
        attempt("network", "udp " + address, lambda: connect(socket.AF_INET, socket.SOCK_DGRAM, (address, input["udp"])))
    attempt("network", "tcp ::1", lambda: connect(socket.AF_INET6, socket.SOCK_STREAM, ("::1", input["tcp"])))
    attempt("network", "dns", lambda: socket.getaddrinfo("example.com", 80))
    attempt("network", "raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))

    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        attempt("abstract socket", kind.name, lambda: connect(socket.AF_UNIX, kind, "\0" + input["abstract"]))
    attempt("abstract socket", "/proc/net/unix", lambda: input["abstract"].encode() in quiet("/proc/net/unix"))

    others = [p for p in names("/proc") if p.isdigit() and int(p) != os.getpid()]
    print("environment\tits own\trefused\t" + repr(dict(os.environ)))
    attempt("environment", "of other processes", lambda: leaked([f"/proc/{p}/environ" for p in others]))
    attempt("environment", "of its parent", lambda: leaked([f"/proc/{os.getppid()}/environ"]))

    places = ["/work", "/tmp", "/dev/shm"] + [f"/proc/{p}/{x}" for p in others for x in ("cwd", "root/work", "root/tmp")]
    attempt("other run", "files", lambda: leaked([place + "/neighbour" for place in places]))
    attempt("other run", "open files", lambda: leaked([f"/proc/{p}/fd/{n}" for p in others for n in range(3, 20)]))
    attempt("other run", "memory", lambda: leaked([f"/proc/{p}/{x}" for p in others for x in ("mem", "maps")]))
