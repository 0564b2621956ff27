# What a fork server has loaded before it loads anything of ours: what programs often want, so that their own import of it takes
# no time. Nothing here starts a thread. What every run uses comes behind it and lies side by side in memory, so that a child
# writes to fewer pages, each of which is copied for it.
def preload():
    import argparse, base64, bisect, collections.abc, contextlib, copy, csv, dataclasses, datetime, decimal, enum, fractions, functools  # noqa: F401, E401
    import hashlib, heapq, html, inspect, io, itertools, math, operator, pathlib, random, re, shutil, socket, statistics, string, struct, subprocess  # noqa: F401, E401
    import tempfile, textwrap, threading, time, traceback, types, typing, unicodedata, urllib.parse, uuid, zlib  # noqa: F401, E401
    import ctypes, fcntl  # noqa: F401, E401


preload()
del preload


