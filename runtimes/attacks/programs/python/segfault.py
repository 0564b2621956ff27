import os
import signal


def main():
    try:
        import ctypes

        ctypes.string_at(0)
    except ImportError:
        os.kill(os.getpid(), signal.SIGSEGV)
