# Starts a fork server, which is in the argument. A child compiles it: the holes that this leaves in memory would be copied by
# each fork, and what is used often would lie far apart between them.
import marshal
import os
import sys

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
