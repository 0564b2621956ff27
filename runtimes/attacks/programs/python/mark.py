import builtins
import os
import sys
import time

PLACES = ("/work/doctor-mark", "/tmp/doctor-mark", "/dev/shm/doctor-mark")


def main(input):
    marked = [p for p in PLACES if os.path.exists(p)] + [n for n in ("builtins",) if hasattr(builtins, "doctor_mark")]
    for place in PLACES:
        try:
            open(place, "w").close()
        except OSError:
            print("cannot write " + place)
    builtins.doctor_mark = True
    if input.get("nap"):  # a process that would outlive its parent
        for _ in range(2):
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    os.execv("/usr/bin/sleep", ["sleep", input["nap"]])
                os._exit(0)
        print("ready")
        sys.stdout.flush()
        time.sleep(input["seconds"])
    return marked
