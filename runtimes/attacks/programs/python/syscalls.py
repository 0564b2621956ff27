import ctypes


def main(input):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    errnos = []
    for number, *args in input["calls"]:
        ctypes.set_errno(0)
        result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) for a in args])
        errnos.append(ctypes.get_errno() if result == -1 else 0)
    return errnos
