def f(n):
    return f(n + 1)


def main():
    f(0)
