"""Shortens JSON values until they fit a number of characters."""

import json
import re
from collections import Counter

ROOM = 16  # characters; a shorter text would be useless
END = re.compile(r"(?<=[.!?…])[\"'”»)]{0,2}\s+(?=[^a-zà-ÿ])|(?<=[。！？])|\n+")
WORD = re.compile(r"[^\W\d_]{3,}|\d[\d.,]*")


def size(value):
    """Returns the length of a value's JSON. Tokens are estimated from it."""
    return len(json.dumps(value))


def tokens(value):
    return size(value) // 4


def level(sizes, weights, room):
    """Returns the allowed size of each value. Small values stay whole; large ones share the remaining room by
    weight."""
    if sum(sizes) <= room:
        return sizes
    low, high = 0.0, float(max(sizes)) / min(weights)
    for _ in range(50):
        middle = (low + high) / 2
        if sum(min(s, w * middle) for s, w in zip(sizes, weights)) <= room:
            low = middle
        else:
            high = middle
    return [min(s, int(w * low)) for s, w in zip(sizes, weights)]


def shrink(value, room, shorten, kept=frozenset()):
    """Returns a shorter value whose JSON has at most room characters, or None if nothing fits. Members in kept stay
    whole."""
    if size(value) <= room:
        return value
    if isinstance(value, str):
        return shorten(value, room) if room >= ROOM else None
    if isinstance(value, list):
        return shrink_list(value, room, shorten)
    if isinstance(value, dict):
        return shrink_members(value, room, shorten, kept)
    return None


def shrink_members(members, room, shorten, kept):
    whole = {name: value for name, value in members.items() if name in kept}
    room -= size(whole) if whole else 2
    if room < 0:
        return None
    # Each member also needs its name, ": " and ", ".
    others = {name: value for name, value in members.items() if name not in kept}
    costs = {name: size(name) + 4 for name in others}
    shares = level([size(v) + costs[n] for n, v in others.items()], [1] * len(others), room) if others else []
    fitted = {}
    for (name, value), share in zip(others.items(), shares):
        told = shrink(value, share - costs[name], shorten)
        if told is not None:
            fitted[name] = told
    return {name: whole[name] if name in whole else fitted[name] for name in members if name in whole or name in fitted}


def shrink_list(items, room, shorten):
    """Returns as many of the first items as fit, and a part of the next one."""
    found, left = [], room - 2
    for item in items:
        told = shrink(item, left - 2, shorten)
        if told is None:
            break
        found.append(told)
        left -= size(told) + 2
        if told is not item:
            break
    return found or None


def cut(text, room):
    """Returns the beginning of a text."""
    low, high = 0, min(len(text), room)
    while low < high:
        middle = (low + high + 1) // 2
        if size(text[:middle].rstrip() + "…") <= room:
            low = middle
        else:
            high = middle - 1
    text = text[:low]
    space = text.rfind(" ", max(0, low - 24))
    return (text[:space] if space > low // 2 else text).rstrip() + "…"


def extract(text, room):
    """Returns the sentences that share most words with the text, in their order. If none fits, it returns the
    beginning."""
    sentences = [part.strip() for part in END.split(text) if part.strip()]
    bags = [set(w.lower() for w in WORD.findall(sentence)) for sentence in sentences]
    frequency = Counter(word for bag in bags for word in bag)
    common = max(2, len(sentences) // 2)
    scores = []
    for i, (sentence, bag) in enumerate(zip(sentences, bags)):
        shared = sum(min(frequency[w], common) - 0.5 for w in bag) / (len(bag) ** 0.7 or 1)
        scores.append(shared * (1.2 if any(c.isdigit() for c in sentence) else 1) + (1.5 if i == 0 else 0.3 if i == len(sentences) - 1 else 0))
    chosen, left, seen = [], room - 2, set()
    for i in sorted(range(len(sentences)), key=lambda i: (-scores[i], i)):
        cost = size(sentences[i]) - 1
        if cost <= left and sentences[i] not in seen:
            chosen.append(i)
            seen.add(sentences[i])
            left -= cost
    return " ".join(sentences[i] for i in sorted(chosen)) if chosen else cut(text, room)
