import os


def main():
    pid = os.fork()  # the limit applies to the whole process tree
    if pid == 0:
        blocks = []
        while True:
            blocks.append(bytearray(1 << 20))
    if os.waitpid(pid, 0)[1] != 0:
        raise MemoryError("a child was killed")
