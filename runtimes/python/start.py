# Starts a fork server, which is in the argument. A child compiles it: the holes that this leaves in memory would be copied by
# each fork, and what is used often would lie far apart between them.
import marshal
import os
import sys

# Small objects have their memory by the mebibyte. What is asked for at once lies side by side, so that it can become huge
# pages; a byte string in each part keeps it.
ahead = [bytes(479) for _ in range(7 * 64 * 31)]
held = ahead[::1024]
del ahead

reader, writer = os.pipe()
compiler = os.fork()
if compiler == 0:
    with open(writer, "wb") as file:
        marshal.dump(compile(sys.argv[1], "<forks>", "exec"), file)
    os._exit(0)
os.close(writer)
with open(reader, "rb") as file:
    code = marshal.load(file)
os.waitpid(compiler, 0)
exec(code)
