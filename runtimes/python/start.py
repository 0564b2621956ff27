# Starts the fork server whose source is the first argument; the second one is typed.py. A child compiles them, because
# compilation would leave holes in memory. Each fork would copy the holes, and data that is used often would be far apart
# between them.
import marshal
import os
import sys

# Python allocates memory for small objects by the mebibyte. Blocks that are allocated together are contiguous and can become
# huge pages. One byte string in each block keeps it allocated.
ahead = [bytes(479) for _ in range(7 * 64 * 31)]
held = ahead[::1024]
del ahead

reader, writer = os.pipe()
compiler = os.fork()
if compiler == 0:
    with open(writer, "wb") as file:
        marshal.dump((compile(sys.argv[1], "<forks>", "exec"), compile(sys.argv[2], "<typed>", "exec")), file)
    os._exit(0)
os.close(writer)
with open(reader, "rb") as file:
    code, TYPED = marshal.load(file)
os.waitpid(compiler, 0)
exec(code)
