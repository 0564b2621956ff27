import os
import socket
import threading


def main(input, ctx):
    """Leaves marks in every place where another run might see them, and keeps running."""
    mark = os.environ["MARK"]
    for path in ("/tmp/" + mark, "/dev/shm/" + mark, "/var/tmp/" + mark, "/usr/" + mark):
        try:
            with open(path, "w") as f:
                f.write("mark")
        except OSError:
            pass
    keep = []
    for family in (socket.AF_UNIX,):
        try:
            s = socket.socket(family)
            s.bind("\0" + mark)
            s.listen()
            keep.append(s)
        except OSError:
            pass
    try:
        s = socket.create_server(("127.0.0.1", 0))
        keep.append(s)
    except OSError:
        pass
    try:
        with open("/proc/self/comm", "w") as f:
            f.write(mark[:15])
    except OSError:
        pass
    print("started", flush=True)
    threading.Event().wait()
