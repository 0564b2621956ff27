"""Makes a list of memory artifacts fit a budget of tokens. The result never exceeds the budget. The preserved fields of
an artifact stay whole, or the artifact is dropped."""

import json
from collections import Counter
from datetime import datetime, timezone

from .budget import WORD, cut, extract, level, shrink, size, tokens

# Fields that every artifact keeps, and fields that are added to an artifact that replaces others.
OURS = frozenset(("id", "type", "merged_from", "merged_count"))
LIST_OF_NAMES = 600

PRESERVED = ("id", "type", "created_at", "provenance_refs")


def compact_memory(artifacts, strategy="summarize", max_tokens=2000, preserve_fields=PRESERVED):
    kept = frozenset(preserve_fields)
    original = tokens(artifacts)
    if original <= max_tokens:
        entries = [Entry(a, [a["id"]]) for a in artifacts]
    else:
        entries = STRATEGIES[strategy]([Entry(a, [a["id"]], i) for i, a in enumerate(artifacts)], max_tokens, kept)
    compacted = [entry.artifact for entry in entries]
    after = tokens(compacted)
    return {
        "compacted_artifacts": compacted, "original_count": len(artifacts), "compacted_count": len(compacted),
        "original_tokens_estimate": original, "compacted_tokens_estimate": after,
        "compression_ratio": round(after / original, 4) if original else 1.0, "strategy_used": strategy,
        "preserved_artifact_ids": list(dict.fromkeys(name for entry in entries for name in entry.names)),
    }


class Entry:
    """An artifact with the IDs of the artifacts that it replaces, and its weight."""

    def __init__(self, artifact, names, place=0, weight=1.0):
        self.artifact, self.names, self.place, self.weight = artifact, names, place, weight
        self.made = moment(artifact.get("created_at"))

    def skeleton(self, kept):
        """Returns the smallest form of the artifact: its preserved fields."""
        bones = {name: value for name, value in self.artifact.items() if name in kept or name in OURS}
        content = self.artifact.get("content")
        if isinstance(content, dict) and "content" not in kept:
            bones["content"] = {name: value for name, value in content.items() if name in kept}
        return {name: bones[name] for name in self.artifact if name in bones}


def moment(text):
    """Returns the creation time of an artifact in seconds, or 0 if it has none."""
    try:
        told = datetime.fromisoformat(text.strip().replace("Z", "+00:00").replace("z", "+00:00"))
        return (told if told.tzinfo else told.replace(tzinfo=timezone.utc)).timestamp()
    except (AttributeError, ValueError, OverflowError):
        return 0.0


def newest_first(entries):
    return sorted(entries, key=lambda e: (-e.weight, -e.made, -e.place))


def fit(entries, max_tokens, kept, shorten):
    """Keeps the artifacts with the highest weights whose preserved fields fit, and shares the remaining room among
    them."""
    room = max_tokens * 4  # of the list's JSON, with its brackets and commas
    left, staying = room - 2, []
    for entry in newest_first(entries):
        cost = size(entry.skeleton(kept)) + 2
        if cost <= left:
            staying.append((entry, cost))
            left -= cost
    staying.sort(key=lambda pair: pair[0].place)
    if not staying:
        return []
    wants = [max(0, size(entry.artifact) + 2 - cost) for entry, cost in staying]
    shares = level(wants, [entry.weight for entry, _ in staying], left)
    for (entry, cost), share in zip(staying, shares):
        entry.artifact = shorter(entry, cost - 2 + share, kept, shorten)
    return [entry for entry, _ in staying]


def shorter(entry, room, kept, shorten):
    if size(entry.artifact) <= room:
        return entry.artifact
    bones = entry.skeleton(kept)
    told = dict(entry.artifact)
    for name in [n for n in told if n not in kept and n not in OURS and n != "content"]:
        del told[name]  # fields that need not be preserved are removed before the content
    rest = room - size({**bones, "content": {}}) + 2 if "content" in told else 0
    if "content" in told and "content" not in kept:
        content = shrink(told["content"], rest, shorten, kept)
        told["content"] = bones.get("content", {}) if content is None else content
    return told if size(told) <= room else bones


def summarize(entries, max_tokens, kept):
    return fit(entries, max_tokens, kept, extract)


def truncate(entries, max_tokens, kept):
    return fit(entries, max_tokens, kept, cut)


def merge(entries, max_tokens, kept):
    return fit(joined(entries, kept), max_tokens, kept, extract)


def joined(entries, kept):
    """Merges the artifacts of each type into one. It has the ID and the time of the newest, and lists the merged
    IDs."""
    groups = {}
    for entry in entries:
        groups.setdefault(entry.artifact["type"], []).append(entry)
    merged = []
    for group in groups.values():
        if len(group) == 1:
            merged += group
            continue
        group.sort(key=lambda e: (e.made, e.place))
        artifact, seen = {}, {}
        for entry in group:
            lay(artifact, entry.artifact, seen)
        names = [name for entry in group for name in entry.names]
        if size(names) <= LIST_OF_NAMES:
            artifact["merged_from"] = names
        artifact["merged_count"] = len(names)
        merged.append(Entry(artifact, names, group[-1].place, max(e.weight for e in group)))
    return merged


# Maximum length of a merged list. More would not fit the largest budget.
MOST = 32_000


def lay(over, under, seen):
    """Merges the members of under into over. It appends texts and lists, and replaces any other value by the newer
    one."""
    for name, value in under.items():
        there = over.get(name)
        if name in ("id", "type", "created_at"):
            over[name] = value
        elif isinstance(there, dict) and isinstance(value, dict):
            lay(there, value, seen)
        elif isinstance(value, dict):
            over[name] = {}
            lay(over[name], value, seen)
        elif isinstance(there, list) and isinstance(value, list):
            known = seen.get(id(there))
            if known is None:
                known = seen[id(there)] = {json.dumps(item, sort_keys=True) for item in there}
            for item in value if len(there) < MOST else ():
                text = json.dumps(item, sort_keys=True)
                if text not in known:
                    known.add(text)
                    there.append(item)
        elif isinstance(value, list):
            over[name] = list(value)
        elif isinstance(there, str) and isinstance(value, str):
            if len(there) < 2 * MOST and value not in there:
                over[name] = there + "\n" + value
        else:
            over[name] = value


def intelligent(entries, max_tokens, kept):
    """Drops duplicates, gives more room to new and informative artifacts, and merges those that would not fit one by
    one."""
    entries = distinct(entries)
    weigh(entries)
    if sum(size(e.skeleton(kept)) + 2 for e in entries) * 2 > max_tokens * 4:
        ordered = newest_first(entries)
        half = max(1, sum(1 for _ in within(ordered, max_tokens * 2, kept)))
        entries = ordered[:half] + joined(ordered[half:], kept)
    return fit(entries, max_tokens, kept, extract)


def within(entries, room, kept):
    for entry in entries:
        room -= size(entry.skeleton(kept)) + 2
        if room < 0:
            return
        yield entry


def distinct(entries):
    """Removes duplicates: of artifacts with the same type and content, only the newest is kept. It lists the IDs of
    all."""
    found = {}
    for entry in sorted(entries, key=lambda e: (e.made, e.place)):
        key = entry.artifact["type"], json.dumps(entry.artifact.get("content"), sort_keys=True)
        earlier = found.pop(key, None)
        if earlier:
            earlier.names.extend(entry.names)
            entry.names = earlier.names
        found[key] = entry
    return sorted(found.values(), key=lambda e: e.place)


def weigh(entries):
    """Sets the weights, from 0.5 to 2. New artifacts and those with rare words weigh more."""
    bags = [set(w.lower() for w in WORD.findall(json.dumps(e.artifact.get("content"), ensure_ascii=False))) for e in entries]
    frequency = Counter(word for bag in bags for word in bag)
    ages = {id(e): i for i, e in enumerate(sorted(entries, key=lambda e: (e.made, e.place)))}
    for entry, bag in zip(entries, bags):
        news = sum(1 / frequency[word] for word in bag) / (len(bag) or 1)
        entry.weight = 0.5 + 0.75 * (ages[id(entry)] + 1) / len(entries) + 0.75 * news


STRATEGIES = {"summarize": summarize, "truncate": truncate, "merge": merge, "intelligent": intelligent}
