# The fork server: a warm interpreter that forks a child for each run. It goes with guest.py, in one namespace. It never
# sees a byte of a user's: a child reads its job when it is in its cell, where it has no privileges any more. It has no
# threads, and keeps nothing open but the socket of its orders.
import _frozen_importlib
import _random
import ctypes
import fcntl
import gc
import random
import socket
import tempfile
import threading

FIRST = 32  # descriptors below are for programs
BOARD = 1 << 16  # bytes
READ, WRITE, EXECUTE, PRIVATE, ANONYMOUS = 1, 2, 4, 2, 32
DUMPABLE, TID_ADDRESS = 4, 40
HUGE, COLLAPSE = 2 << 20, 25
PROGRAM = b"def main(input, ctx):\n    return {'sum': input['a'] + 1}\n"
NEW = b'{"entry":"main.py","env":{},"recursion":1000,"largest":1000,"input":{"a":1.5,"b":["x"]}}'
JOB = NEW[:-1] + b',"code":"' + binascii.b2a_base64(MAGIC + marshal.dumps((compile(PROGRAM, ROOT + "/main.py", "exec"), {})), newline=False) + b'"}'


def preload():
    """Imports what programs often want, so that their own import of it takes no time. Nothing here starts a thread."""
    import argparse, base64, bisect, collections.abc, contextlib, copy, csv, dataclasses, datetime, decimal, enum, fractions, functools  # noqa: F401, E401
    import hashlib, heapq, html, inspect, io, itertools, math, operator, pathlib, random, re, shutil, socket, statistics, string, struct, subprocess  # noqa: F401, E401
    import tempfile, textwrap, time, traceback, types, typing, unicodedata, urllib.parse, uuid, zlib  # noqa: F401, E401


def warm(times):
    """Goes the whole way of a run. Code that was never run before writes to itself and to the interpreter's caches when it
    runs, and a child pays for each page of that. The first compile in a child would take five times as long."""
    ours, theirs = socket.socketpair()
    os.dup2(theirs.fileno(), 3)
    for job in (NEW,) * 9 + (JOB,) * times:
        channel = Channel()
        ours.send(job + b"\n")
        end(channel, *rehearse(begin(channel), channel))
        ours.recv(1 << 16)
        renew()
    for _ in range(times):
        bring()
    ours.close()
    theirs.close()


def rehearse(job, channel):
    """Runs a program of our own, and leaves nothing of it. A child that waits for its job does that too: what it touches for
    the first time the kernel has to copy."""
    global content
    read, argv = content, sys.argv
    read(os.devnull)
    content = lambda path: PROGRAM  # noqa: E731
    ended = run(job, channel)
    content, sys.argv = read, argv
    del sys.path[0], sys.modules[PACKAGE], sys.modules[PACKAGE + ".main"], sys.modules["main"]
    return ended


def bring():
    """Imports an empty module whose code is kept, as runs do. A child does not rehearse that: most programs have one file."""
    loader = _frozen_importlib_external.SourceFileLoader("null", os.devnull)
    spec = _frozen_importlib_external.spec_from_file_location("null", os.devnull, loader=loader)
    imported[os.devnull] = digest(b""), marshal.dumps(compile(b"", os.devnull, "exec"))
    loader.exec_module(_frozen_importlib.module_from_spec(spec))
    del imported[os.devnull]


def place(libc, content, size, access):
    """Puts bytes into memory of their own."""
    size += -size % os.sysconf("SC_PAGE_SIZE")
    address = libc.mmap(None, size, READ | WRITE, PRIVATE | ANONYMOUS, -1, 0)
    ctypes.memmove(address, content, len(content))
    if libc.mprotect(address, size, access) != 0:
        raise OSError(ctypes.get_errno(), "no memory for the loop")
    return address


def thread(libc):
    """Finds the number by which libc knows its first thread, 0 for nowhere: a child by clone3 has to have its own there."""
    address = ctypes.c_ulong()
    known = libc.prctl(TID_ADDRESS, ctypes.byref(address), 0, 0, 0) == 0 and address.value != 0
    # That is how glibc has it; another one may keep a lock there.
    return address.value if known and ctypes.c_int.from_address(address.value).value == _thread.get_native_id() else 0


def join(libc):
    """Joins pages into huge ones, as far as the kernel does. A fork copies the entry of each page, and each child takes them down
    again at its end; of a huge one that is a single entry, until the child writes there. Where there is no /proc they stay as
    they are."""
    if not os.path.exists("/proc/self/maps"):
        return
    for line in content("/proc/self/maps").splitlines():
        where, access, _, _, file, *name = line.split()
        if access == b"rw-p" and file == b"0" and name != [b"[stack]"]:
            low, high = (int(at, 16) for at in where.split(b"-"))
            for at in range(low + -low % HUGE, high - HUGE + 1, HUGE):
                libc.madvise(at, HUGE, COLLAPSE)


def serve():
    """Forks children on the starter's order, and answers in each of them when it is in its cell. Neither is done in Python:
    what that touches in memory is copied after each fork, here and there. The starter brings the code, and all it needs."""
    low = 0
    while low < FIRST:
        low = os.dup(0)
    os.close(low)
    control = fcntl.fcntl(3, fcntl.F_DUPFD_CLOEXEC, FIRST)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long
    libc.madvise.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    libc.mprotect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    code = os.read(control, BOARD)
    loop = ctypes.PYFUNCTYPE(ctypes.c_long, ctypes.c_void_p)(place(libc, code, len(code), READ | EXECUTE))
    board = place(libc, b"", BOARD, READ | WRITE)
    os.write(control, json.dumps({"board": board, "control": control, "thread": thread(libc)}).encode())
    image = os.read(control, BOARD)
    ctypes.memmove(board, image, len(image))
    preload()
    settle()
    warm(30)
    os.dup2(0, 3)
    gc.collect()
    gc.freeze()
    join(libc)
    libc.prctl(DUMPABLE, 0, 0, 0, 0)
    os.write(control, b"ready")
    loop(board)
    renew()
    rehearse(scan(str(JOB, "ascii"), 0)[0], None)


def renew():
    """Makes anew what a child must not have in common with others."""
    _random.Random.seed(random._inst)  # as random.seed() does
    tempfile._name_sequence = None
    threading._main_thread._native_id = _thread.get_native_id()


serve()
boot(False)
