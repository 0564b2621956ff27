import os


def main():
    os.fork()
    while True:
        os.write(1, b"x" * 65536)
