import os
import time


def main(input, ctx):
    """Leaves a process behind that has its own session, ignores signals and writes to the inherited pipe."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            import signal

            for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
                signal.signal(s, signal.SIG_IGN)
            with open(os.environ.get("PIDFILE", "/tmp/pid"), "w") as f:
                f.write(str(os.getpid()))
            while True:
                try:
                    os.write(1, b".")
                except OSError:
                    pass
                time.sleep(0.01)
        os._exit(0)
    while not os.path.exists(os.environ.get("PIDFILE", "/tmp/pid")):
        time.sleep(0.01)
    return "done"
