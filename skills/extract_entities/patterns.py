"""Finds addresses, telephone numbers, dates and amounts by patterns. Every pattern begins at a word border and has
bounds, so its time is proportional to the length of the text."""

import re

EMAIL = re.compile(r"(?<![\w.+%-])[\w.+%-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w@-])")
URL = re.compile(r"(?<!\w)(?:(?:https?|ftps?|sftp|ssh|git|wss?)://|www\.(?=\w))[^\s<>\"`{}|\\^\ud800-\udfff]{1,2000}", re.I)
BARE = re.compile(
    r"(?<![\w.@/\-])[a-z0-9][a-z0-9-]{0,62}(?:\.[a-z0-9-]{1,63}){0,4}\.(?:com|org|net|io|dev|app|ai|eu|gov|edu|de|fr|nl|ch|at|info|co\.uk)(?:/[^\s<>\"`\ud800-\udfff]{0,2000}|(?![\w.\-@]|\.\w))",
    re.I,
)

_MONTHS = (
    "January|February|March|April|May|June|July|August|September|October|November|December|"
    "Januar|Februar|März|Mai|Juni|Juli|Oktober|Dezember|"
    "janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre|"
    "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|"
    "Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Okt|Nov|Dec|Dez"
)
_DAYS = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|Mon|Tue|Tues|Wed|Thu|Thurs|Fri|Sat|Sun"
_LONG_DAYS = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday"
_YEAR = r"(?:1[5-9]|20)\d\d"
_DAY = r"(?:3[01]|[12]\d|0?[1-9])"
_CLOCK = r"\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:\s?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?"

# Pairs of pattern and confidence.
DATES = [(re.compile(p, f), c) for p, f, c in [
    (rf"(?<![\w./-]){_YEAR}-(?:1[0-2]|0[1-9])-(?:3[01]|[12]\d|0[1-9])(?:[T ]{_CLOCK})?(?![\w/-])", 0, 0.95),
    (rf"(?<![\w./-]){_DAY}/(?:{_MONTHS})/{_YEAR}(?::\d\d:\d\d:\d\d(?: [+-]\d{{4}})?)?(?![\w/-])", 0, 0.95),
    (rf"(?<![\w./-]){_YEAR}/(?:1[0-2]|0[1-9])/(?:3[01]|[12]\d|0[1-9])(?![\w/-])", 0, 0.85),
    (rf"(?<![\w./:-]){_DAY}([./])(?:{_DAY})\1(?:{_YEAR}|\d\d)(?![\w/-]|\.\d)", 0, 0.75),
    (rf"(?<!\w)(?:(?:{_DAYS})\.?,? )?(?:{_MONTHS})\.? {_DAY}(?:st|nd|rd|th)?(?:,? {_YEAR})?(?![\w%]|[.,]\d)", 0, 0.85),
    (rf"(?<![\w./:-])(?:(?:{_DAYS})\.?,? )?{_DAY}(?:st|nd|rd|th|\.|er|º)?(?: of| de)? (?:{_MONTHS})\.?(?:(?:,| of| de)? {_YEAR})?(?!\w)", 0, 0.85),
    (rf"(?<!\w)(?:{_MONTHS})\.?,?(?: de)? {_YEAR}(?![\w%]|[.,]\d)", 0, 0.85),
    (rf"(?<!\w)(?:Q[1-4]|H[12]|FY) ?(?:{_YEAR}|'\d\d)(?!\w)", 0, 0.8),
    (rf"(?<!\w)(?:last|next|this|past|coming) (?:{_LONG_DAYS}|week|weekend|month|quarter|year|spring|summer|autumn|fall|winter|January|February|March|April|May|June|July|August|September|October|November|December)(?![\w'’])", re.I, 0.75),
    (r"(?<!\w)(?:the day (?:before yesterday|after tomorrow)|yesterday|today|tomorrow|tonight)(?![\w'’])", re.I, 0.65),
    (rf"(?<!\w)(?:the )?(?:early |mid-?|late )?(?:1[5-9]|20)\d0s(?!\w)", 0, 0.7),
]]
WEEKDAY = re.compile(rf"(?<![\w-])(?<!Black )(?<!Good )(?<!Cyber )(?<!Easter )(?<!Bloody )(?:{_LONG_DAYS})(?![\w'’-])")
MONTH_ALONE = re.compile(r"(?<!\w)(?:(?:in|since|until|till|by|of|early|late|mid|during|before|after|from|to|through) (?:early |late |mid-?)?)(January|February|March|April|May|June|July|August|September|October|November|December)(?![\w'’])")
YEAR_ALONE = re.compile(rf"(?<!\w)(in|since|until|till|by|from|during|before|after|around|of|for|through|circa|early|late|mid|year|im Jahr|en) ({_YEAR})(?![\w%:/-]|[.,]\d)", re.I)

_SIGN = r"(?:(?:US|CA|AU|NZ|HK|SG|C|A|R)?\$|[€£¥₹₽₩₺₴₫₪₱฿])"
_CODE = r"(?:USD|EUR|GBP|CHF|JPY|CNY|RMB|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR|TRY|RUB|KRW|SGD|HKD|NGN|KES|AED|ILS)"
_NUMBER = r"\d[\d.,'’\u00a0\u202f]{0,30}"
_MANY = r"(?: ?(?:thousand|million|billion|trillion|mn|bn|Millionen|Milliarden|Mio\.?|Mrd\.?|millions?|milliards?)\b| ?[kKmMbB]\b)?"
_UNIT = r"(?:dollars?|euros?|bucks|quid|yen|yuan|rupees?|francs?|cents?|pence|pounds?(?= sterling)|pounds(?! of\b| [a-z]+ (?:heavier|lighter)\b)|kron(?:er|or)|pesos|rubles|roubles|dirhams?|naira|shillings|Dollar|Euro|Franken|zł|kr)"
_WORD = "(?:half|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|billion|trillion)"
MONEY = [(re.compile(p, f), c) for p, f, c in [
    (rf"(?<![\w$]){_SIGN}[ \u00a0]?{_NUMBER}{_MANY}", 0, 0.9),
    (rf"(?<!\w){_CODE}[ \u00a0]?{_NUMBER}{_MANY}", 0, 0.9),
    (rf"(?<![\w.,]){_NUMBER}{_MANY}[ \u00a0]?(?:[€£¥₹₽₩₺₴]|{_CODE}(?!\w)|{_UNIT}(?!\w))", 0, 0.85),
    (rf"(?<!\w)(?:an? )?(?:{_WORD}(?: and |[ -])){{1,8}}{_UNIT}(?!\w)", re.I, 0.8),
]]
# $1 in a shell script is not an amount of dollars.
SHELL = re.compile(r"awk|print|bash|\bsh\b|\$[A-Za-z_{(]|[{}]|expand|arg", re.I)

PHONE = re.compile(r"(?<![\w.\-/:#$€£])(?:\+ ?\d|\(\+?\d|\d)[\d ()\-./\u00a0\u2011]{5,24}\d(?![\w@]|[-:.]\w)(?:(?: ?,)? ?(?:ext\.?|x) ?\d{1,6}(?!\w))?")
CALLING = re.compile(
    r"\b(?:tel|telephone|phone|phones|mobile|cell|call|calling|called|fax|dial|hotline|reach|text|ring|whatsapp|number|ph|telefon|mobil|handy|tél|téléphone|teléfono)\b[^\n\d]{0,16}\Z", re.I)
NUMBERING = re.compile(r"\b(?:isbn|issn|order|invoice|ticket|ref|reference|id|serial|account|iban|card|case|no|version|build|part|sku|tracking|checksum)\b[^\n\d]{0,8}\Z", re.I)
_NANP = re.compile(r"(?:1[-. ])?(?:\(\d{3}\) ?|\d{3}([-. ]))\d{3}(?:\1|[-. ])\d{4}\Z")
_PAREN = re.compile(r"(?:\+?\d{1,3}[ -]?)?\(\d{2,5}\)[ -]?\d{2,4}(?:[ -]\d{2,4}){0,3}\Z")
_ADDRESS = re.compile(r"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\Z")


def found(text, wanted):
    """Yields (start, end, type, confidence) of each match. Spans of different types may overlap."""
    for kind, look in (("URL", urls), ("EMAIL", emails), ("DATE", dates), ("MONEY", money), ("PHONE", phones)):
        if kind in wanted:
            for start, end, confidence in look(text):
                yield start, end, kind, confidence


def urls(text):
    for m in URL.finditer(text):
        end = trimmed(text, m.start(), m.end())
        if end - m.start() > 8 or text[m.start()] in "wW" and "." in text[m.start() + 4:end]:
            yield m.start(), end, 0.95
    for m in BARE.finditer(text):
        yield m.start(), trimmed(text, m.start(), m.end()), 0.75


def trimmed(text, start, end):
    """Removes punctuation of the sentence from the end of an address: full stops, and brackets that do not open in
    it."""
    opened = {")": "(", "]": "["}
    counts = {c: text.count(c, start, end) for c in "()[]"}
    while end > start:
        last = text[end - 1]
        if last in opened and counts[last] > counts[opened[last]]:
            counts[last] -= 1
        elif last not in ".,;:!?'’*_…":
            break
        end -= 1
    return end


def emails(text):
    for m in EMAIL.finditer(text):
        local = m.group().partition("@")[0]
        if not (local.startswith(".") or local.endswith(".") or ".." in m.group()):
            yield m.start(), m.end(), 0.95 if m.group().isascii() else 0.85


def dates(text):
    taken = []
    for pattern, confidence in DATES:
        for m in pattern.finditer(text):
            taken.append((m.start(), trim_dot(text, m), confidence))
    for m in WEEKDAY.finditer(text):
        taken.append((m.start(), m.end(), 0.7))
    for m in MONTH_ALONE.finditer(text):
        taken.append((m.start(1), m.end(1), 0.65 if m.group(1) != "March" and m.group(1) != "May" else 0.55))
    for m in YEAR_ALONE.finditer(text):
        counted = m.group(1).lower() in ("for", "of", "from", "by", "after", "before", "around") and re.match(r" (?!and|or|to|but|with|when|the|was|were|is|has|at|in|on)[a-z]", text[m.end():m.end() + 8])
        if not counted:
            taken.append((m.start(2), m.end(2), 0.65))
    return longest(taken)


def trim_dot(text, m):
    return m.end() - 1 if text[m.end() - 1] == "." else m.end()


def longest(spans):
    """Of overlapping spans, keeps the longest."""
    kept, border = [], 0
    for start, end, confidence in sorted(spans, key=lambda s: (s[0], -s[1])):
        if start >= border:
            kept.append((start, end, confidence))
            border = end
    return kept


def money(text):
    spans = []
    for pattern, confidence in MONEY:
        for m in pattern.finditer(text):
            start, end = m.span()
            while text[end - 1] in ".,'’\u00a0\u202f ":
                end -= 1
            if not text[end - 1].isalnum() and text[end - 1] not in "€£¥₹₽₩₺₴":
                continue
            if re.fullmatch(r"\$\d", text[start:end]) and SHELL.search(text[max(0, start - 24):end + 12]):
                continue
            spans.append((start, end, confidence))
    return longest(spans)


def phones(text):
    for m in PHONE.finditer(text):
        start, end = m.span()
        number = text[start:end]
        digits = sum(c.isdigit() for c in number)
        before = text[max(0, start - 28):start]
        if _ADDRESS.match(number) or not 6 <= digits <= 18 or NUMBERING.search(before) or any(p.match(number) for p, _ in DATES):
            continue
        plain = re.split(r"(?: ?,)? ?(?:ext|x)", number)[0]
        digits = sum(c.isdigit() for c in plain)
        if digits > 15 or plain.count("(") != plain.count(")"):
            continue
        called = CALLING.search(before)
        if number.startswith("+") or number.startswith("(+"):
            confidence = 0.9 if digits >= 8 else 0
        elif _NANP.match(plain):
            confidence = 0.9 if called else 0.8 if not plain.count(" ") == 2 else 0.6
        elif _PAREN.match(plain) and digits >= 7:
            confidence = 0.8
        elif called and digits >= 6:
            confidence = 0.8
        else:
            confidence = 0
        if confidence:
            yield start, end, confidence
