def main():
    with open("/tmp/x", "wb") as a, open("/work/x", "wb") as b, open("/dev/shm/x", "wb") as c:
        while True:
            for file in (a, b, c):
                file.write(b"x" * 65536)
