"""Finds persons, organisations, places, dates, amounts of money, e-mail addresses, telephone numbers and URLs in a text."""

from bisect import bisect_right

from .names import Reader
from .patterns import found

TYPES = ("PERSON", "ORGANIZATION", "LOCATION", "DATE", "MONEY", "EMAIL", "PHONE", "URL")
NAMES = frozenset(TYPES[:3])


def extract_entities(text, entity_types=(), min_confidence=0.5):
    wanted = frozenset(entity_types or TYPES)
    # All patterns are searched, also for types that were not requested, so that no part of an address is taken for a
    # name.
    forms = separate(found(text, TYPES))
    names = Reader(text, [(start, end) for start, end, *_ in forms]).find() if wanted & NAMES else []
    entities = [
        {"text": text[start:end], "type": kind, "confidence": round(confidence, 2), "start_pos": start, "end_pos": end}
        for start, end, kind, confidence in separate(forms + names)
        if kind in wanted and confidence >= min_confidence
    ]
    counts = {kind: sum(e["type"] == kind for e in entities) for kind in TYPES}
    return {"entities": entities, "total_entities": len(entities), "entity_counts": {kind: n for kind, n in counts.items() if n}}


def separate(spans):
    """Of overlapping spans, keeps the one with the highest confidence, or the longest of equal ones."""
    starts, kept = [], []
    for span in sorted(spans, key=lambda s: (s[2] != "URL", s[2] != "EMAIL", -s[3], s[0] - s[1], s[0])):
        at = bisect_right(starts, span[0])
        if (at == 0 or kept[at - 1][1] <= span[0]) and (at == len(kept) or span[1] <= kept[at][0]):
            starts.insert(at, span[0])
            kept.insert(at, span)
    return kept
