import builtins
import os
import sys

PLACES = ("/work/mark", "/tmp/mark", "/dev/shm/mark")


def main(input):
    marked = [p for p in PLACES if os.path.exists(p)] + [n for n in ("builtins",) if hasattr(builtins, "doctor_mark")]
    for place in PLACES:
        open(place, "w").close()
    builtins.doctor_mark = True
    if input.get("nap"):  # something that would outlive its parent
        for _ in range(2):
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    os.execv("/usr/bin/sleep", ["sleep", input["nap"]])
                os._exit(0)
        print("ready")
        sys.stdout.flush()
        sys.stdin.readline()
        wait(input)
    return marked


def wait(input):
    import time

    time.sleep(input["seconds"])
