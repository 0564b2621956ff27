import glob
import os


def main(input, ctx):
    """Looks for the value of a variable of the server, which is given in two halves so that it is not found here."""
    secret = os.environ["SECRET_A"] + os.environ["SECRET_B"]
    found = [name for name, value in os.environ.items() if secret in value]
    found += [name for name in os.environ if name.startswith("ATELIER_")]
    for pattern in ("/proc/*/environ", "/proc/*/cmdline", "/proc/*/task/*/environ", "/run/*", "/etc/*", "/work/*", "/tmp/*", "/dev/shm/*"):
        for path in glob.glob(pattern):
            try:
                with open(path, "rb") as f:
                    if secret.encode() in f.read(1 << 20):
                        found.append(path)
            except OSError:
                pass
    try:
        with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
            for line in maps:
                if "[stack]" not in line and "[heap]" not in line:
                    continue
                low, high = (int(x, 16) for x in line.split()[0].split("-"))
                memory.seek(low)
                if b"ATELIER_TEST_" + b"SECRET=" in memory.read(high - low):
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
