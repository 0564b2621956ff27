"""Cuts a text into sentences. A full stop ends one unless it belongs to an abbreviation, an initial, a number or a name."""

import re

# Punctuation that ends sentences: of Latin and Greek, Arabic, Urdu, Devanagari, Armenian, Chinese and Japanese.
END = re.compile(r"[.!?…؟۔।։。！？｡]{1,8}")
WIDE = frozenset("。！？｡।۔")
CLOSING = frozenset("\"'’”»)]}」』）*_")
OPENING = frozenset("\"'‘“„«([{¿¡「『（*_-–—•")

# Abbreviations in lower case, whose full stop does not end a sentence. Those in ALWAYS never end one.
ALWAYS = frozenset("""
mr mrs ms mx dr prof st sr jr rev hon gen col capt lt sgt maj cmdr adm gov sen rep pres messrs fr herr mme mlle sra mt ft no nos nr art arts vol vols pp ch sec secs fig figs eq ref refs ed eds vs v cf viz approx ca al bzgl bzw z vgl abs evtl ggf inkl
e.g i.e d.h u.a z.b p.ej
""".split())
# Those in OFTEN may also end a sentence. The next word decides.
OFTEN = frozenset("inc ltd co corp bros llc etc u.s u.k u.n e.u a.m p.m b.c a.d ph.d m.d jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun dept univ est min max tel str ave blvd rd usw min std".split())
HEAD = re.compile(r"\S{1,24}\Z")
BREAK = re.compile(r"\n[ \t]*\n|\r\n[ \t]*\r\n|\u2029|\n(?=[ \t]*(?:[-*•–—▪]|\d{1,3}[.)])[ \t])")


def paragraphs(text):
    """Yields (start, end) of paragraphs, which blank lines and list items separate."""
    start = 0
    for m in BREAK.finditer(text):
        yield start, m.start()
        start = m.end()
    yield start, len(text)


def sentences(text):
    """Lists (start, end, paragraph) of the sentences."""
    found = []
    for number, (start, end) in enumerate(paragraphs(text)):
        at = start
        for m in END.finditer(text, start, end):
            if m.start() < at or not ends(text, at, m, end):
                continue
            stop = m.end()
            while stop < end and text[stop] in CLOSING:
                stop += 1
            add(found, text, at, stop, number)
            at = stop
        add(found, text, at, end, number)
    return found


def add(found, text, start, end, number):
    while start < end and (text[start].isspace() or not text[start].isprintable()):
        start += 1
    while end > start and (text[end - 1].isspace() or not text[end - 1].isprintable()):
        end -= 1
    if any(c.isalnum() for c in text[start:end]):
        found.append((start, end, number))


def ends(text, start, m, limit):
    mark, stop = m.group(), m.end()
    if WIDE & set(mark):
        return True
    while stop < limit and text[stop] in CLOSING:
        stop += 1
    if stop < limit and not text[stop].isspace():
        return False  # example.com, 3.5, ?query
    following = text[stop:stop + 40].lstrip()
    while following and following[0] in OPENING:
        following = following[1:].lstrip()
    if not following:
        return True
    lower = following[0].islower()
    if mark != ".":
        return not lower
    if lower:
        return False
    word = HEAD.search(text, max(start, m.start() - 24), m.start())
    word = word.group().lstrip("\"'‘“„«([{").lower() if word else ""
    if word in ALWAYS:
        return word in ("no", "art", "ch", "ed", "z", "st") and following.split()[0].lower() in STARTERS
    if len(word) == 1 and word.isalpha() and text[m.start() - 1].isupper():
        return word == "i"  # J. R. Hartley
    if word in OFTEN:
        return following[0].isupper() and following.split()[0].lower() in STARTERS
    if word.isdigit() and len(word) <= 2 and (m.start() - len(word) == start or following[:3].lower() in MONTHS):
        return False  # 3. März, or the number of a point
    return True


STARTERS = frozenset("the a an this that these those it he she they we i you in on at but and however there when while as if after before our his her their its for to by no not so".split())
MONTHS = frozenset("jan feb mär mar apr mai may jun jul aug sep okt oct nov dez dec".split())
