"""Summarizes by extraction. It chooses sentences that share many terms with the others, stand in important positions
and do not repeat each other."""

import math
import re
from collections import Counter

from .sentences import sentences

WORD = re.compile(r"[^\W\d_](?:[^\W\d_]|['’\u0300-\u036f-](?=[^\W\d_]))*|\d[\d.,:/]*\d|\d")
CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
ASIDE = re.compile(r" ?\([^()]{0,400}\)")

# Function words of common languages. In other languages the most frequent words have a low weight anyway.
EMPTY = frozenset("""
a about above after again against all also am an and any are as at be because been before being below between both but by can could did do does doing down during each few for from further had has have having he her here hers him his how i if in into
is it its itself just like may me might more most much must my no nor not now of off on once one only or other our ours out over own per said same say says she should so some such than that the their theirs them then there these they this those through to too under
until up us very was we were what when where which while who whom why will with would yet you your yours however therefore although though since among within without upon
der die das den dem des ein eine einer eines einem einen und oder aber nicht ist sind war waren wird werden wurde wurden hat haben hatte mit von zu zum zur auf aus bei nach für im in am an als auch es er sie wir ihr ich sich dass wie so nur noch
le la les un une des du de et ou mais ne pas est sont était ont avec pour par sur dans en ce cette ces il elle ils elles nous vous je se que qui au aux plus
el los las una unos unas y o pero no es son era fue han con por para en del al lo su sus que se como más
il lo gli uno di e ma non è sono era con per su nel della dei che si come più
""".split())


def text_summarize(text, max_sentences=5, style="concise"):
    text = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
    found = sentences(text)
    if len(found) <= max_sentences:
        return answer(text, text, len(found))
    chosen = sorted(choose(text, found, max_sentences))
    picked = [(" ".join(text[start:end].split()), paragraph) for start, end, paragraph in (found[i] for i in chosen)]
    if style == "bullet-points":
        summary = "\n".join("• " + sentence.lstrip("-*•–—▪ ") for sentence, _ in picked)
    elif style == "detailed":
        summary = picked[0][0]
        for (_, last), (sentence, paragraph) in zip(picked, picked[1:]):
            summary += (" " if paragraph == last else "\n\n") + sentence
    else:
        summary = " ".join(ASIDE.sub("", sentence) for sentence, _ in picked)
    return answer(text, summary, len(picked))


def answer(text, summary, count):
    return {
        "summary": summary, "original_length": len(text), "summary_length": len(summary),
        "compression_ratio": 1.0 if summary == text else round(len(summary) / len(text), 4), "sentences_extracted": count,
    }


def terms(sentence):
    """The words of a sentence that carry meaning, without their commonest endings."""
    for m in WORD.finditer(sentence):
        word = m.group().lower().replace("’", "'").removesuffix("'s")
        if CJK.search(word):
            yield from (word[i:i + 2] for i in range(max(1, len(word) - 1)))  # no spaces: pairs of characters
        elif word not in EMPTY and (len(word) > 1 or word.isdigit()):
            yield stem(word)


def stem(word):
    for ending, rest in (("ations", 4), ("ation", 4), ("ingly", 4), ("ments", 4), ("ment", 4), ("ness", 4), ("ings", 4), ("ing", 4), ("ies", 3), ("edly", 4), ("ed", 4), ("ers", 4), ("er", 4), ("ly", 4), ("es", 4), ("en", 4), ("s", 3), ("e", 4)):
        if word.endswith(ending) and len(word) - len(ending) >= rest:
            return word[:-len(ending)]
    return word


def choose(text, found, count):
    bags = [Counter(terms(text[start:end])) for start, end, _ in found]
    vectors = weigh(bags)
    ranks = rank(vectors, places(text, found))
    scores = [r * fitness(text[start:end], bag) for r, (start, end, _), bag in zip(ranks, found, bags)]
    return pick(scores, vectors, count)


def weigh(bags):
    """Returns sparse TF-IDF vectors of length 1."""
    frequency = Counter(term for bag in bags for term in bag)
    vectors = []
    for bag in bags:
        vector = {term: (1 + math.log(n)) * math.log(1 + len(bags) / frequency[term]) for term, n in bag.items()}
        length = math.sqrt(sum(w * w for w in vector.values())) or 1.0
        vectors.append({term: w / length for term, w in vector.items()})
    return vectors


def places(text, found):
    """Weighs sentences by position: the first ones of the text and of each paragraph, and the last one, weigh more."""
    prior, last = [], None
    for i, (start, end, paragraph) in enumerate(found):
        weight = 1.0 + 1.5 / (1 + i) + (0.35 if paragraph != last else 0) + (0.25 if i == len(found) - 1 else 0)
        prior.append(weight)
        last = paragraph
    total = sum(prior)
    return [w / total for w in prior]


def rank(vectors, prior, damping=0.8, rounds=25):
    """Ranks sentences by passing scores from sentences to their terms and back. The result is similar to TextRank, but
    the time is proportional to the length of the text and not to the square of its sentences."""
    shares = Counter()
    for vector in vectors:
        for term, weight in vector.items():
            shares[term] += weight
    sums = [sum(vector.values()) for vector in vectors]
    scores = list(prior)
    for _ in range(rounds):
        carried = dict.fromkeys(shares, 0.0)
        lost = 0.0
        for score, vector, total in zip(scores, vectors, sums):
            if not total:
                lost += score
            for term, weight in vector.items():
                carried[term] += score * weight / total
        fresh = [
            (1 - damping + damping * lost) * p + damping * sum(carried[term] * weight / shares[term] for term, weight in vector.items())
            for p, vector in zip(prior, vectors)
        ]
        change = sum(abs(a - b) for a, b in zip(scores, fresh))
        scores = fresh
        if change < 1e-6:
            break
    return scores


def fitness(sentence, bag):
    """Returns a factor for the rank of a sentence. It is low for short sentences, questions, quotations and very long
    ones."""
    size = sum(bag.values())
    factor = 0.3 if size < 3 else 0.7 if size < 5 else 1.0
    factor /= max(1.0, size / 12) ** 0.4
    if any(c.isdigit() for c in sentence):
        factor *= 1.25  # figures are what readers look for
    if sentence[0] in "\"“„«‘'":
        factor *= 0.7  # a quotation
    if sentence.rstrip("\"'’”»)").endswith(("?", "？", "؟", ":")):
        factor *= 0.6
    return factor


def pick(scores, vectors, count):
    """Chooses the best sentence, then repeatedly the best one of those that repeat little of the chosen ones."""
    chosen, overlap, left = [], [0.0] * len(scores), set(range(len(scores)))
    while left and len(chosen) < count:
        best = max(left, key=lambda i: (scores[i] * (1 - 0.85 * overlap[i]), -i))
        left.discard(best)
        chosen.append(best)
        for i in tuple(left):
            small, large = sorted((vectors[i], vectors[best]), key=len)
            overlap[i] = max(overlap[i], sum(w * large[t] for t, w in small.items() if t in large))
            if overlap[i] > 0.8:
                left.discard(i)  # says the same
    return chosen
