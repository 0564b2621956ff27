def main():
    n = 0
    while True:
        n += 1
        open(f"/tmp/{n}", "w").close()
