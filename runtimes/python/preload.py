# A fork server imports these modules before it executes any other code. Programs often need them and can then import
# them without delay. None of them starts a thread. Code that every run uses is loaded afterwards, so that it is
# contiguous in memory. A child then changes fewer pages, and the kernel copies each changed page.
def preload():
    import argparse, base64, bisect, collections.abc, contextlib, copy, csv, dataclasses, datetime, decimal, enum, fractions, functools  # noqa: F401, E401
    import hashlib, heapq, html, inspect, io, ipaddress, itertools, math, operator, pathlib, random, re, shutil, socket, statistics, string, struct, subprocess  # noqa: F401, E401
    import tempfile, textwrap, threading, time, traceback, types, typing, unicodedata, urllib.parse, uuid, zlib  # noqa: F401, E401
    import ctypes, fcntl  # noqa: F401, E401


preload()
del preload


