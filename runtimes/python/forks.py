# The fork server: a Python interpreter that has executed everything a run needs and forks a child for each run. This
# file shares one namespace with guest.py. The fork server never reads user data: a child reads its job after it has
# entered its sandbox and dropped all privileges. The fork server has no threads, and its control socket is the only
# file that it keeps open.
import _frozen_importlib
import _random
import ctypes
import fcntl
import gc
import random
import socket
import struct
import threading

FIRST = 32  # the fork server keeps its own descriptors at or above this number; programs use the lower ones
LOOP_MEMORY = 1 << 16  # bytes
READ, WRITE, EXECUTE, PRIVATE, ANONYMOUS = 1, 2, 4, 2, 32
MAYMOVE, FIXED = 1, 2
DUMPABLE, TID_ADDRESS = 4, 40
HUGE, COLLAPSE = 2 << 20, 25
PROGRAM = b"def main(input, ctx):\n    return {'sum': input['a'] + 1}\n"
NEW = b'{"entry":"main.py","env":{},"recursion":1000,"largest":1000,"input":{"a":1.5,"b":["x"]}}'
JOB = NEW[:-1] + b',"code":"' + binascii.b2a_base64(MAGIC + marshal.dumps((compile(PROGRAM, ROOT + "/main.py", "exec"), {})), newline=False) + b'"}'


def warm(times):
    """Executes all steps of a run several times. Code that runs for the first time changes itself and the interpreter's
    caches. In a child, each changed page must be copied. Without this the first compilation in a child would take five
    times as long."""
    ours, theirs = socket.socketpair()
    os.dup2(theirs.fileno(), 3)
    for job in (NEW,) * 9 + (JOB,) * times:
        channel = Channel()
        ours.send(job + b"\n")
        end(channel, *rehearse(channel.job(), channel))
        ours.recv(1 << 16)
    for _ in range(times):
        bring()
    ours.close()
    theirs.close()


def rehearse(job, channel):
    """Runs a built-in program and then removes its traces. A child also does this while it waits for its job, because
    the kernel copies each page when the child first changes it."""
    global content
    read, argv = content, sys.argv
    read(os.devnull)
    content = lambda path: PROGRAM  # noqa: E731
    ended = run(job, channel)
    content, sys.argv = read, argv
    del sys.path[0], sys.modules[PACKAGE], sys.modules[PACKAGE + ".main"], sys.modules["main"]
    return ended


def bring():
    """Imports an empty module from cached code, as runs do. A waiting child does not repeat this, because most programs
    have one file."""
    loader = _frozen_importlib_external.SourceFileLoader("null", os.devnull)
    spec = _frozen_importlib_external.spec_from_file_location("null", os.devnull, loader=loader)
    imported[os.devnull] = digest(b""), marshal.dumps(compile(b"", os.devnull, "exec"))
    loader.exec_module(_frozen_importlib.module_from_spec(spec))
    del imported[os.devnull]


def find():
    """Creates the finder for the program's modules, which otherwise the first import creates. The finder has not
    searched yet."""
    loaders = _frozen_importlib_external._get_supported_file_loaders()
    sys.path_importer_cache[ROOT] = _frozen_importlib_external.FileFinder(ROOT, *loaders)


def place(libc, content, size, access):
    """Copies bytes into newly mapped memory."""
    size += -size % os.sysconf("SC_PAGE_SIZE")
    address = libc.mmap(None, size, READ | WRITE, PRIVATE | ANONYMOUS, -1, 0)
    ctypes.memmove(address, content, len(content))
    if libc.mprotect(address, size, access) != 0:
        raise OSError(ctypes.get_errno(), "no memory for the loop")
    return address


def thread(libc):
    """Finds the address where libc stores the ID of the first thread. Returns 0 if it is unknown. A child created with
    clone3 must store its own ID there."""
    address = ctypes.c_ulong()
    known = libc.prctl(TID_ADDRESS, ctypes.byref(address), 0, 0, 0) == 0 and address.value != 0
    # The address has this meaning in glibc. Another libc may store a lock there, so compare the value with the ID.
    return address.value if known and ctypes.c_int.from_address(address.value).value == _thread.get_native_id() else 0


def mappings():
    """Lists the memory mappings of this process: start, end, access and inode (0 if the mapping has no file). Without
    /proc the list is empty, so the callers change no mappings."""
    if not os.path.exists("/proc/self/maps"):
        return []
    known = (line.split() for line in content("/proc/self/maps").splitlines())
    return [(*(int(at, 16) for at in where.split(b"-")), access, int(file)) for where, access, _, _, file, *_ in known]


def states():
    """Finds the address of the state of Python's shared random number generator. Each child gets its own state before
    it is ready."""
    known = struct.pack("624I", *random.getstate()[1][:-1])
    return id(random._inst) + ctypes.string_at(id(random._inst), _random.Random.__basicsize__).index(known)


def unite(libc):
    """Merges the five mappings of a library into two, one executable and one writable. This saves time, because a fork
    copies each mapping and each child removes its copies at its end. The merged writable mapping includes tables that
    the loader had made read-only. This is no risk: a program in this process could change the access itself."""
    known = mappings()
    libraries = {file for _, _, access, file in known if file and access == b"r-xp"}
    for (low, high, access, file), (following, _, next_access, next_file) in zip(known, known[1:]):
        if file in libraries and access == b"r--p":
            table = (following, next_access, next_file) == (high, b"rw-p", file)
            libc.mprotect(low, high - low, READ | (WRITE if table else EXECUTE))


def join(libc):
    """Merges pages into huge pages where the kernel supports it. This saves time, because a fork copies one table entry
    per page and each child removes its entries at its end. A huge page has a single entry until the child writes to it.
    """
    for low, high, access, file in mappings():
        if access == b"rw-p" and not file:
            huge(libc, low, high)


def huge(libc, low, high):
    """Creates huge pages between two addresses and returns whether all succeeded."""
    return all([libc.madvise(at, HUGE, COLLAPSE) == 0 for at in range(low + -low % HUGE, high - HUGE + 1, HUGE)])


def move(libc):
    """Moves the interpreter's own code into huge pages. Otherwise each child has about fifty page faults for this code.
    """
    inside, none = ctypes.cast(ctypes.pythonapi.Py_GetVersion, ctypes.c_void_p).value, ctypes.c_void_p(-1).value
    for low, high, access, file in mappings():
        low += -low % HUGE
        size = (high - low) // HUGE * HUGE
        if not (file and access == b"r-xp" and size > 0 and low <= inside < high):
            continue
        room = libc.mmap(None, size + HUGE, READ | WRITE, PRIVATE | ANONYMOUS, -1, 0)
        if room == none:
            return
        copy = room + -room % HUGE
        libc.munmap(room, copy - room)
        libc.munmap(copy + size, room + HUGE - copy)
        ctypes.memmove(copy, low, size)
        if not huge(libc, copy, copy + size) or libc.mprotect(copy, size, READ | EXECUTE) != 0 or libc.mremap(copy, size, size, MAYMOVE | FIXED, low) == -1:
            libc.munmap(copy, size)  # only if the last call fails: Python may have mapped other memory at low meanwhile


def serve():
    """Runs the loop that forks a child for each order of the launcher and, in the child, replies after the child's
    set-up. The loop is machine code that the launcher sends with all its data. It is not Python, because memory that
    Python changes would be copied after each fork, in the parent and in the child."""
    low = 0
    while low < FIRST:
        low = os.dup(0)
    os.close(low)
    control = fcntl.fcntl(3, fcntl.F_DUPFD_CLOEXEC, FIRST)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long
    libc.madvise.argtypes = libc.mprotect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    libc.mremap.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p
    libc.munmap.argtypes = ctypes.c_void_p, ctypes.c_size_t
    code = os.read(control, LOOP_MEMORY)
    loop = ctypes.PYFUNCTYPE(ctypes.c_long, ctypes.c_void_p)(place(libc, code, len(code), READ | EXECUTE))
    memory = place(libc, b"", LOOP_MEMORY, READ | WRITE)
    os.write(control, json.dumps({"memory": memory, "control": control, "thread": thread(libc), "random": states()}).encode())
    image = os.read(control, LOOP_MEMORY)
    ctypes.memmove(memory, image, len(image))
    names = expect()
    settle()
    find()
    annotations()
    warm(30)
    os.dup2(0, 3)
    threading._main_thread._native_id = 1  # each child is process 1 of its namespace, so its main thread has the ID 1
    unite(libc)
    gc.collect()
    gc.freeze()
    join(libc)
    move(libc)
    libc.prctl(DUMPABLE, 0, 0, 0, 0)
    os.write(control, b"ready")
    loop(memory)
    rehearse(scan(str(JOB, "ascii"), 0)[0], None)
    return names


ahead(serve())
boot(False)
