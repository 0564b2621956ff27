# Starts the fork server. Its source is the first argument; the second one is the source of typed.py. A forked child
# compiles both and sends the code back. Compiling in this process would leave gaps in its memory. Each fork would copy
# the gaps, and data that is used often would be far apart.
import marshal
import os
import sys

# Python allocates memory for small objects in blocks of a mebibyte. Blocks that are allocated together are contiguous
# and can become huge pages. So allocate many now, and keep one byte string in each block so that Python does not
# release it.
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
