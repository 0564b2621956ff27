# The fork server: a warm interpreter that forks a child for each run. It goes with guest.py, in one namespace. It never
# sees a byte of a user's: a child reads its job when it is in its cell, where it has no privileges any more. It has no
# threads, and keeps nothing open but the socket of its orders.
import base64
import ctypes
import fcntl
import gc
import select
import socket
import struct

FIRST = 32  # descriptors below are for programs
NEWPID, DUMPABLE = 0x20000000, 4


def preload():
    """Imports what programs often want, so that their own import of it takes no time. Nothing here starts a thread."""
    import argparse, bisect, collections.abc, contextlib, copy, csv, dataclasses, datetime, decimal, enum, fractions, functools  # noqa: F401, E401
    import hashlib, heapq, html, inspect, io, itertools, math, operator, pathlib, random, re, shutil, statistics, string, subprocess  # noqa: F401, E401
    import tempfile, textwrap, time, traceback, types, typing, unicodedata, urllib.parse, uuid, zlib  # noqa: F401, E401


def warm(times):
    """Goes the way of a run. The first compile in a child takes five times as long if the parent has never compiled, and
    what a child touches for the first time the kernel has to copy: one that waits for its job does that ahead of it."""
    for _ in range(times):
        code = compile("def main(input, ctx):\n    return {'sum': input['a'] + 1}\n", "warm", "exec", dont_inherit=True)
        names = {"__name__": "warm"}
        exec(code, names)
        value = json.loads('{"a": 1.5, "b": ["x"]}')
        args, named = arguments(names["main"], value, None)
        encode(names["main"](*args, **named), 1000)
        with open(os.devnull, "rb") as file:
            file.read()


class Way:
    """The steps into a cell, with their constant arguments ready for the call."""

    def __init__(self, steps):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.syscall.restype = ctypes.c_long
        self.kept = []
        self.steps = [(step["trap"], [self.constant(arg) for arg in step["args"]]) for step in steps]

    def constant(self, arg):
        kind = arg["kind"]
        if kind == "int":
            return ctypes.c_long(arg.get("int", 0))
        if kind == "text":
            return self.address(arg.get("text", "").encode() + b"\0")
        if kind == "bytes":
            return self.address(base64.b64decode(arg["text"]))
        if kind == "filter":
            code = base64.b64decode(arg["text"])
            return self.address(struct.pack("HxxxxxxQ", len(code) // 8, self.address(code).value))
        return arg.get("text", "") if kind == "fd" else None

    def address(self, memory):
        buffer = ctypes.create_string_buffer(memory, len(memory))
        self.kept.append(buffer)
        return ctypes.c_long(ctypes.addressof(buffer))

    def go(self, user, fds):
        """Carries out the steps, and says what failed, on the socket that is there for it."""
        syscall, long = self.libc.syscall, ctypes.c_long
        named = {name: long(fd) for name, fd in fds.items()}
        named[None] = long(user)
        says = fds["sync"]
        for at, (trap, args) in enumerate(self.steps):
            if syscall(long(trap), *[arg if type(arg) is long else named[arg] for arg in args]) < 0:
                os.write(says, struct.pack("=QQq", ord("F"), at * 72, -ctypes.get_errno()))  # as fork.go says it
                os._exit(1)
            if at == self.last:
                says = 6
        os.write(6, b"R")


def serve():
    low = 0
    while low < FIRST:
        low = os.dup(0)
    os.close(low)
    control = socket.socket(fileno=fcntl.fcntl(3, fcntl.F_DUPFD_CLOEXEC, FIRST))
    os.dup2(0, 3)
    namespace = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    way = Way(json.loads(control.recv(1 << 18)))
    # From where on the socket has its final number.
    way.last = max((i for i, (_, args) in enumerate(way.steps) if "sync" in args), default=0)
    libc = way.libc
    # Not os.fork, which takes twice as long: what it mends in a child is for threads, and there is one.
    fork = ctypes.PyDLL(None).fork
    preload()
    settle()
    warm(20)
    libc.prctl(DUMPABLE, 0, 0, 0, 0)
    control.send(b'{"ready":true}')
    children = {}
    events = select.poll()
    events.register(control.fileno(), select.POLLIN)
    gc.collect()
    gc.freeze()
    while True:
        for fd, _ in events.poll():
            if fd != control.fileno():
                bury(control, events, fd, *children.pop(fd))
                continue
            message, passed, _, _ = socket.recv_fds(control, 1 << 12, 32)
            if not message:
                os._exit(0)
            order = json.loads(message)
            # The child begins a process namespace of its own; this process stays where it is.
            if libc.unshare(NEWPID) < 0:
                os._exit(3)
            pid = fork()
            if pid == 0:
                control.detach()
                way.go(order["user"], dict(zip(order["names"], passed)))
                os.closerange(4, FIRST)  # what the way needed
                libc.prctl(DUMPABLE, 1, 0, 0, 0)
                renew()
                warm(1)
                return
            if libc.setns(namespace, NEWPID) < 0:
                os._exit(4)
            for copy in passed:
                os.close(copy)
            if pid < 0:  # no memory, or no room for one more process
                control.send(json.dumps({"id": order["id"], "status": 256}).encode())
                continue
            handle = os.pidfd_open(pid)
            children[handle] = order["id"], pid
            events.register(handle, select.POLLIN)
            socket.send_fds(control, [json.dumps({"id": order["id"], "pid": pid}).encode()], [handle])


def renew():
    """Makes anew what a child must not have in common with others."""
    import random, tempfile, threading  # noqa: E401
    random.seed()
    tempfile._name_sequence = None
    threading.main_thread()._set_native_id()


def bury(control, events, handle, number, pid):
    events.unregister(handle)
    os.close(handle)
    _, status = os.waitpid(pid, 0)
    control.send(json.dumps({"id": number, "status": status}).encode())


serve()
boot(False)
