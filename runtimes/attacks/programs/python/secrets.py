import glob
import os


def follows(data, head, tail):
    """Returns whether tail directly follows head. The process never joins the two, because the search would find the
    result."""
    at = data.find(head)
    while at >= 0:
        if data.startswith(tail, at + len(head)):
            return True
        at = data.find(head, at + 1)
    return False


def mapped():
    """Yields the memory of this process in overlapping pieces."""
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps.readlines():
            low, high = (int(x, 16) for x in line.split()[0].split("-"))
            for at in range(low, high, 1 << 20):
                try:
                    memory.seek(at)
                    yield memory.read(min(high - at, (1 << 20) + 64))
                except (OSError, ValueError, OverflowError):
                    break


def main(input, ctx):
    """Searches for a variable of the server. Its value is given in two halves, so that the search does not find its own
    copy."""
    wanted = [(b"ATELIER_TEST_", b"SECRET="), (os.environb[b"SECRET_A"], os.environb[b"SECRET_B"])]
    found = [name for name in os.environ if name.startswith("ATELIER_")]
    for pattern in ("/proc/*/environ", "/proc/*/cmdline", "/proc/*/task/*/environ", "/run/*", "/etc/*", "/work/*", "/tmp/*", "/dev/shm/*"):
        for path in glob.glob(pattern):
            try:
                with open(path, "rb") as f:
                    data = f.read(1 << 20)
            except OSError:
                continue
            if any(follows(data, *halves) for halves in wanted):
                found.append(path)
    try:
        if any(follows(data, *halves) for data in mapped() for halves in wanted):
            found.append("memory")
    except OSError:
        pass
    for fd in range(3, 256):
        try:
            if os.readlink(f"/proc/self/fd/{fd}").startswith("/") and not os.readlink(f"/proc/self/fd/{fd}").startswith(("/usr", "/work", "/proc", "/dev")):
                found.append(f"descriptor {fd}")
        except OSError:
            pass
    return found
