def main():
    return len([open("/dev/null") for _ in range(5000)])
