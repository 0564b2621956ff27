import sys
import time


def main(input):
    for path in ("/work/neighbour", "/tmp/neighbour", "/dev/shm/neighbour"):
        try:
            with open(path, "w") as file:
                file.write(input["secret"])
        except OSError:
            pass
    print("ready")
    sys.stdout.flush()
    time.sleep(3600)
