# A fork server imports these modules before any other code: programs often need them, and then import them without delay.
# None of them starts a thread. Code that every run uses is loaded afterwards and is contiguous in memory, so that a child
# writes to fewer pages, each of which is copied for it.
def preload():
    import argparse, base64, bisect, collections.abc, contextlib, copy, csv, dataclasses, datetime, decimal, enum, fractions, functools  # noqa: F401, E401
    import hashlib, heapq, html, inspect, io, ipaddress, itertools, math, operator, pathlib, random, re, shutil, socket, statistics, string, struct, subprocess  # noqa: F401, E401
    import tempfile, textwrap, threading, time, traceback, types, typing, unicodedata, urllib.parse, uuid, zlib  # noqa: F401, E401
    import ctypes, fcntl  # noqa: F401, E401


preload()
del preload


