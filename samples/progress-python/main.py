"""A long job that says how far it is: watch the progress bar, or press Stop."""

import time


def main(input, ctx):
    batches = input.get("batches", 8)
    size = input.get("size", 2000)
    primes, largest = 0, None
    ctx.log("info", "started", {"batches": batches, "size": size})

    for batch in range(batches):
        found = [n for n in range(batch * size, (batch + 1) * size) if is_prime(n)]
        primes += len(found)
        largest = found[-1] if found else largest
        print(f"batch {batch + 1:2}: \x1b[36m{len(found):4}\x1b[0m primes")
        if not found:
            ctx.log("warn", "a batch without primes", {"batch": batch + 1})
        ctx.progress(batch + 1, batches, f"{primes} primes so far")
        time.sleep(input.get("pauseMs", 150) / 1000)

    ctx.log("info", "finished", {"primes": primes})
    return {"checked": batches * size, "primes": primes, "largest": largest}


def is_prime(n):
    if n < 2:
        return False
    if n % 2 == 0:
        return n == 2
    divisor = 3
    while divisor * divisor <= n:
        if n % divisor == 0:
            return False
        divisor += 2
    return True
