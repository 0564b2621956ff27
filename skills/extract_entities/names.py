"""Finds the names of persons, organisations and places. A candidate is a sequence of capitalised words. Lists of names,
its own words and the words around it decide its type and confidence."""

import re

from .gazetteer import (
    AMBIGUOUS_NAMES, CITIES, COMPANY_ENDS, COUNTRIES, DEMONYMS, GIVEN_NAMES, ORGANISATION_ENDS, ORGANISATION_HEADS, ORGANISATIONS, PLACE_ENDS, PLACE_HEADS, REGIONS,
)

WORD = re.compile(r"[^\W_](?:[^\W_]|[\u0300-\u036f]|['’&\-\u2011](?=[^\W_]))*")

PLACES = COUNTRIES | REGIONS | CITIES
KNOWN_HEADS = frozenset(name.split()[0] for name in PLACES | ORGANISATIONS if " " in name)
PARTICLES = frozenset("de da do dos das del della di du la le van von der den ter zu zur bin ibn ben al el y e".split())

TITLES = frozenset("mr mrs ms miss mx dr prof professor sir dame lord lady madam herr frau monsieur madame señor señora sr sra fr rev reverend father sister rabbi imam saint st".split())
ROLES = frozenset("""
president minister chancellor senator congressman congresswoman representative governor mayor judge justice detective inspector officer sergeant captain colonel general lieutenant major admiral commander
ambassador secretary king queen prince princess duke pope bishop archbishop cardinal coach chairman chairwoman chair director ceo cfo cto spokesman spokeswoman spokesperson attorney counsel prosecutor professor doctor
author actor actress singer journalist economist analyst engineer prime vice deputy chief first foreign defence defense finance former
""".split())
MIDDLES = frozenset("minister president chancellor secretary governor executive officer justice director lady".split())

# Words that are capitalised because of their position, or by convention in contracts, offices and programs.
COMMON = frozenset("""
a an the this that these those there here it its he she they we you i his her their our your my me him them us who whom whose what which when where why how and or but nor so yet for if then else than as at by from in into of off on
onto out over per to up upon with within without about above across after against along amid among around before behind below beneath beside between beyond despite down during except inside like near outside past since through throughout till toward towards under
until via is are was were be been being am do does did done has have had having can could may might must shall should will would not no yes ok okay all any both each every few more most much many neither none one other others some such two three four five six seven eight nine ten only own same too very just also even ever never
once again now still already always often sometimes today tomorrow yesterday tonight however therefore although because while whereas whether unless though please thanks thank hi hello hey dear regards sincerely best kind warm cheers
monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december mon tue wed thu fri sat sun jan feb mar apr jun jul aug sep sept oct nov dec
spring summer autumn winter christmas easter ramadan hanukkah halloween thanksgiving new year happy good great big black white red green blue yellow old young high low first second third last next north south east west northern southern eastern western
prior written consent section article schedule exhibit annex appendix clause paragraph rule chapter part page table figure note agreement contract lease deed act law laws code data protection confidential information claim claims closing
company buyer seller landlord tenant licensor licensee lessor lessee borrower lender party parties plaintiff defendant appellant respondent petitioner trustee witness seal premises property effective date services service product products term terms
conflict liability notice notices client customer customers supplier contractor employer employee team care support report final version review quarterly annual monthly office department floor suite room building house meeting agenda slide slides invoice
order ticket account user users admin system server client error errors warn warning info debug trace fatal critical http https get post put delete head failed success started stopped finished connection timeout retry cache miss hit worker job thread process file files line
found deprecated option config configuration traceback exception caused password invalid disk memory build release released keep simple send sent mail email re fw fwd cc bcc subject from to date attached visit call contact
python java javascript typescript rust go ruby perl linux unix windows macos android ios iphone ipad ubuntu debian fedora docker kubernetes git node react chrome firefox safari excel word powerpoint outlook teams internet web wifi bluetooth raspberry pi
god bible koran english french german depression war world cup olympic olympics games league championship premier nobel prize award awards covid-19 covid brexit
police officials critics experts economists analysts scientists researchers farmers voters workers students climbers residents authorities management nobody everybody everyone someone anyone something nothing everything people men women children
prices shares inflation growth sales profits sources flooding rain heavy storms witnesses lawyers doctors teachers investors traders members leaders rebels soldiers troops
neither counsel court judge jury governing signed dated signature hand day title name address phone fax tel number mother father mom mum dad boss ask check look welcome congratulations congrats sorry sure maybe lol omg idk btw fyi asap
hope will mark grant bill rose main root home
""".split())
FUNCTION = frozenset("a an the this that these those our their its his her my your in on at by for from to of and or but with when where as if while since until after before during".split())
SAYING = frozenset("said says say told tells wrote writes argued argues added adds replied replies explained explains insisted insists claimed claims testified objected noted tweeted asked answered recalled warned admitted denied sagte erklärte dit dijo".split())
DOING = frozenset("resigned died married retired smiled laughed cried wept nodded shrugged sang painted composed invented discovered built wrote lived grew graduated apologised apologized testified pleaded confessed".split())
TRADING = frozenset("announced announces reported reports acquired acquires launched launches filed files posted unveiled merged employs hired sued recalled manufactures sells shipped listed delisted raised".split())
GREETING = frozenset("hi hello hey dear thanks thank hallo liebe lieber bonjour hola ciao cheers sincerely regards ask asked tell told ping met meet mom dad brother sister uncle aunt cousin friend colleague wife husband son daughter".split())
LOCATING = frozenset("in near outside around across throughout toward towards".split())
MOVING = frozenset("from to via through into of at visit visited visiting reached".split())
TRAVEL = frozenset("arrived arrive lives live lived born based headquartered flew fly flying travel travelled traveled moved drove went return returned back office offices city town village capital hotel plant factory university airport flight train trains ship landed land lands headquarters".split())
EMPLOYING = frozenset("joined joins work works worked working employed hired shares stock stake subsidiary shareholders customers company firm startup bank retailer maker manufacturer airline guy job jobs".split())
ROLE_AFTER = re.compile(r", (?:(?:the|a|an|our|its|their|who|whose|whom|then|now|former|aged?|\d\d)\b|(?:chief|head|director|president|chairman|chairwoman|minister|professor|founder|co-founder|ceo|lawyer|attorney|spokes\w+|editor|author|captain|coach|mayor)\b)", re.I)
SURNAME = re.compile(r"(?:ović|evic|ovic|sson|sen|ski|ska|sky|skaya|ova|ova|enko|stein|berg|mann|man|ez|escu|yan|ian|oğlu|dottir|qvist|quist|ström|etti|elli|ini|ucci|ault|eau|wood|worth|ham|field|ley|ton)$|^(?:O['’]|Mc|Mac[A-Z]|Di|De|Al-|El-)[A-ZÀ-Þ]?")

UNSURE_PLACES = frozenset("Turkey Georgia Jordan China Nice Split Bath Chad Java Phoenix Queens Austin Cork Essen Victoria Florence Charlotte Cali Buffalo Mobile Orlando Milan Sofia Verona Alexandria Valencia Lima York Hesse Salvador Kingston Guinea Niger Washington Madison Lincoln Pacific Atlantic Cambridge Oxford Washington".split())
UNSURE_ORGANISATIONS = frozenset("Apple Amazon Meta Shell Visa Ford Guardian Zoom Slack Stripe Oracle Nike Intel Bosch Dell Alphabet Disney Stanford Harvard Yale Philips Twitter".split())
BOTH_ENDS = frozenset("hill woods lake forest park castle lane field rivers street bridge port bush".split())


class Token:
    __slots__ = ("start", "end", "text", "lower", "capital", "first")

    def __init__(self, start, end, text):
        self.start, self.end, self.text, self.lower = start, end, text, text.lower()
        self.capital = text[0].isupper()
        self.first = False


class Reader:
    def __init__(self, text, spans):
        self.text, self.people = text, set()
        self.tokens = list(self.tokenise(spans))

    def tokenise(self, spans):
        text, border, at = self.text, 0, 0
        spans = sorted(spans)
        for m in WORD.finditer(text):
            start, end = m.span()
            while at < len(spans) and spans[at][1] <= start:
                at += 1
            inside = at < len(spans) and spans[at][0] < end
            token = Token(start, end, m.group())
            if len(token.text) > 2 and token.text[-2] in "'’" and token.text[-1] in "sS":
                token = Token(start, end - 2, token.text[:-2])
            between = text[border:start]
            token.first = border == 0 or opens(text, border, between)
            if inside or self.coded(token):
                token.capital = False
            border = end
            yield token

    def coded(self, token):
        """Whether a word is a part of a name of a file, a class or a variable."""
        text, start, end = self.text, token.start, token.end
        before = text[start - 1] if start else " "
        after, beyond = text[end:end + 1], text[end + 1:end + 2]
        if before in "@#$=_\\/" or before in ".:" and start > 1 and text[start - 2].isalnum() and not (before == "." and start > 1 and len(token.text) == 1):
            return True
        if after and after in "_=\\(" and beyond.strip() and after != "(" or after == "(" and beyond == ")":
            return True
        if after and after in ".:/" and beyond.isalnum() and not (after == "." and len(token.text) == 1):
            return True
        return any(c.isdigit() for c in token.text)

    def chunks(self):
        """Yields (first, last) of sequences of capitalised tokens, last excluded."""
        tokens, n, i = self.tokens, len(self.tokens), 0
        while i < n:
            if not tokens[i].capital:
                i += 1
                continue
            j = i + 1
            while j < n and j - i < 8:
                if tokens[j].capital and self.joined(j):
                    j += 1
                    continue
                skip = j
                while skip < n and skip - j < 3 and tokens[skip].lower in PARTICLES and not tokens[skip].capital and self.joined(skip):
                    skip += 1
                if skip > j and skip < n and tokens[skip].capital and self.joined(skip) and tokens[skip - 1].lower not in ("y", "e", "la", "le", "el") or skip - j == 2 and skip < n and tokens[skip].capital and self.joined(skip):
                    j = skip + 1
                    continue
                break
            yield i, j
            i = j

    def joined(self, j):
        """Returns whether a token continues the name that the token before it began."""
        left, right = self.tokens[j - 1], self.tokens[j]
        between = self.text[left.end:right.start]
        if between in (" ", "\u00a0"):
            return True
        if between in (". ", ".", ".\u00a0"):
            return len(left.text) == 1 and left.capital or between != "." and left.lower in TITLES | {"st", "mt", "ft"}
        return between in (" & ",) and right.capital

    def before(self, i, count=1):
        token = self.tokens[i - count] if i >= count else None
        if token is None:
            return ""
        gap = self.text[token.end:self.tokens[i - count + 1].start]
        return token.lower if len(gap) <= 3 and "\n" not in gap and not set(gap) & set(".!?;") else ""

    def after(self, j):
        if j >= len(self.tokens):
            return ""
        gap = self.text[self.tokens[j - 1].end:self.tokens[j].start]
        return self.tokens[j].text if gap in (" ", "'s ", "’s ") else ""

    def span(self, i, j):
        return self.tokens[i].start, self.tokens[j - 1].end

    def words(self, i, j):
        start, end = self.span(i, j)
        return self.text[start:end]

    # The type of a sequence

    def find(self):
        runs = [part for run in self.chunks() for part in self.divide(*run)]
        names = []
        for i, j in runs:
            told = self.judge(i, j)
            if told:
                names.append(told)
                if told[2] == "PERSON" and told[3] >= 0.6:
                    self.people.update(t for t in self.text[told[0]:told[1]].split() if len(t) > 2 and t.lower() not in COMMON and t not in PLACES)
        names += self.initials(names)
        taken = {(start, end) for start, end, _, confidence in names if confidence >= 0.5}
        for i, j in runs:  # a surname alone refers to a person named in full elsewhere
            if j - i == 1 and self.tokens[i].text in self.people and self.span(i, j) not in taken:
                names.append((*self.span(i, j), "PERSON", 0.7))
        return names

    def initials(self, names):
        """Yields initials in brackets after an organisation, such as (WHO)."""
        for start, end, kind, confidence in names:
            if kind == "ORGANIZATION" and confidence >= 0.6:
                short = re.match(r" \(([A-Z]{2,8})\)", self.text[end:end + 12])
                if short and short.group(1)[0] == self.text[start]:
                    yield end + 2, end + 2 + len(short.group(1)), kind, 0.85

    def divide(self, i, j):
        """Removes words that do not belong to a name, and splits a sequence that contains two names."""
        tokens = self.tokens
        if self.shouted(i, j):
            known = self.words(i, j)
            if known in ORGANISATIONS or known in PLACES:
                yield i, j
            return
        while i < j and tokens[i].lower in FUNCTION and self.words(i, i + 2 if i + 1 < j else j) not in PLACES:
            i += 1
        if j - i > 1 and (self.words(i, j).split()[-1].lower() in COMPANY_ENDS or self.words(i + 1, j) in ORGANISATIONS and tokens[i].text in DEMONYMS):
            yield i, j
            return
        while i < j and not self.heads(j - 1) and tokens[i].lower in COMMON and not self.known_from(i, j) and not (tokens[i].text in AMBIGUOUS_NAMES and (j - i > 1 and tokens[i + 1].lower not in COMMON or self.before(i) in GREETING)):
            i += 1
        while i < j and not self.heads(j - 1) and tokens[j - 1].lower in COMMON and tokens[j - 1].lower not in ORGANISATION_ENDS | PLACE_ENDS | COMPANY_ENDS and not self.known_from(i, j):
            j -= 1
        start = i
        for k in range(i + 1, j):  # "President Fatou Diallo" goes together; "Paris Monday" does not
            if tokens[k].lower in COMMON and tokens[k].lower not in COMPANY_ENDS | ORGANISATION_ENDS | ORGANISATION_HEADS | PLACE_ENDS | ROLES | MIDDLES and not self.known_from(start, j):
                if k > start:
                    yield start, k
                start = k + 1
        if start < j:
            yield start, j

    def heads(self, i):
        """Returns whether a word begins a name such as Department of Energy."""
        tokens = self.tokens
        return (
            tokens[i].lower in ORGANISATION_HEADS and i + 2 < len(tokens) and tokens[i + 1].lower in ("of", "for", "do", "de")
            and tokens[i + 2].capital and tokens[i + 2].lower not in FUNCTION and self.joined(i + 1) and self.joined(i + 2)
        )

    def known_from(self, i, j):
        if self.tokens[i].text not in KNOWN_HEADS and self.tokens[i].lower not in PLACE_HEADS:
            return False
        return any(self.words(i, k) in PLACES or self.words(i, k) in ORGANISATIONS for k in range(i + 2, j + 1)) or self.tokens[j - 1].lower in COMPANY_ENDS | ORGANISATION_ENDS and j - i > 1

    def shouted(self, i, j):
        letters = [t for t in self.tokens[i:j] if len(t.text) > 1]
        return bool(letters) and all(t.text.isupper() for t in letters)

    def judge(self, i, j):
        tokens = self.tokens
        titled = False
        first = i
        while i < j - 1 and (tokens[i].lower in TITLES and not (tokens[i].lower in ("st", "saint") and self.words(i, j).replace("St ", "St. ") in PLACES) or tokens[i].lower in ROLES):
            titled = True
            i += 1
        before = self.before(first)
        if before in TITLES | ROLES or before in MIDDLES:
            titled = True
        elif before == "" and i == first and first and tokens[first - 1].lower in TITLES and self.text[tokens[first - 1].end:tokens[first].start] == ". ":
            titled = True
        start, end = self.span(i, j)
        name = self.text[start:end]
        organisation = self.organisation(i, j, first)
        if organisation:
            return organisation
        for told in (self.known(i, j, name, titled), self.shaped(i, j, name, titled), self.placed(i, j, name)):
            if told:
                return (start, end, *told)
        return None

    def organisation(self, i, j, first):
        """Recognises an organisation by a typical first or last word, and extends the name to the words that belong to
        it."""
        tokens, text = self.tokens, self.text
        start, end = self.span(first, j)
        last = text[start:end].split()[-1].lower()
        follow = self.after(j).lower()
        if last in COMPANY_ENDS and (j - first > 1) or follow in ("plc", "gmbh", "llc", "inc", "ltd", "ag", "kg", "ab") and follow:
            if last not in COMPANY_ENDS:
                j += 1
                end = tokens[j - 1].end
            while first >= 1 and " & " in text[start:end] and tokens[first - 1].capital and text[tokens[first - 1].end:start] == ", ":
                first -= 1  # Hartmann, Lee & Partners LLP
                start = tokens[first].start
            if text[end:end + 1] == "." and text[start:end].split()[-1].lower() in ("inc", "corp", "ltd", "co", "bros", "s.a", "s.p.a", "n.v", "b.v", "l.l.c"):
                end += 1
            return start, end, "ORGANIZATION", 0.9
        name = text[start:end]
        if name in ORGANISATIONS or name in PLACES:
            return None
        # University of Oslo, Department of Energy, Board of Education
        if self.heads(j - 1):
            k = j + 2
            while k < len(tokens) and k - j < 6 and self.joined(k) and tokens[k].capital:
                k += 1
            if tokens[first].lower in ("supreme", "high", "court") and tokens[j + 1].text in PLACES:
                return (start, end, "ORGANIZATION", 0.75)
            return start, tokens[k - 1].end, "ORGANIZATION", 0.92  # surer than the place in it
        if j - first > 1 and tokens[j - 1].lower in ORGANISATION_ENDS and not (tokens[first].text in GIVEN_NAMES and j - first == 2 and tokens[j - 1].lower in ("church", "bank", "union", "press")):
            return start, end, "ORGANIZATION", 0.8
        if " & " in name and tokens[first].lower not in COMMON and tokens[j - 1].lower not in COMMON and not (tokens[first].text in GIVEN_NAMES and tokens[j - 1].text in GIVEN_NAMES):
            return start, end, "ORGANIZATION", 0.7
        if j - first == 2 and tokens[first].text == "Air" or j - first > 1 and tokens[first].text in DEMONYMS and self.words(first + 1, j) in ORGANISATIONS:
            return start, end, "ORGANIZATION", 0.85
        if j - first > 1 and tokens[first].lower in ORGANISATION_HEADS and tokens[first].lower in ("banco", "banca", "banque", "university"):
            return start, end, "ORGANIZATION", 0.7
        return None

    def known(self, i, j, name, titled):
        tokens, size = self.tokens, j - i
        before, after = self.before(i), self.after(j).lower()
        single = size == 1
        if titled and tokens[i].lower not in COMMON:
            return "PERSON", 0.9
        if name in PLACES or name.replace("-", " ") in PLACES:
            person = single and name in GIVEN_NAMES | AMBIGUOUS_NAMES
            if single and name in UNSURE_PLACES and before not in LOCATING | MOVING | {"and"}:
                if person and (before in GREETING or after in SAYING):
                    return "PERSON", 0.65
                return "LOCATION", 0.45 if tokens[i].first or person else 0.6
            if person and before in GREETING and before not in ("met", "meet"):
                return "PERSON", 0.6
            return "LOCATION", 0.9 if not single or before in LOCATING | MOVING else 0.8
        if name in ORGANISATIONS:
            if name in UNSURE_ORGANISATIONS and tokens[i].first and after and after not in TRADING and not after.endswith("ed") and after not in SAYING | {"is", "has", "was", "will", "and", "shares", "bought"}:
                return "ORGANIZATION", 0.4
            return "ORGANIZATION", 0.85
        return None

    def shaped(self, i, j, name, titled):
        """Recognises persons by given names, initials and the words around them, and places by their first and last
        words."""
        tokens, text, size = self.tokens, self.text, j - i
        head, last = tokens[i], tokens[j - 1]
        start, end = self.span(i, j)
        before, after = self.before(i), self.after(j)
        given = head.text in GIVEN_NAMES or head.text.split("-")[0] in GIVEN_NAMES and "-" in head.text
        doubtful = head.text in AMBIGUOUS_NAMES
        if size == 1 and head.text in DEMONYMS and not (given and (before in GREETING or head.text in self.people)):
            return None
        if size > 1 and last.lower in PLACE_ENDS and not (given and last.lower in BOTH_ENDS):
            return "LOCATION", 0.75
        if size > 1 and head.lower in PLACE_HEADS and head.lower not in ("new", "north", "south", "east", "west", "upper", "lower") and not given:
            return "LOCATION", 0.7
        if size > 1 and given and last.lower not in COMMON:
            return "PERSON", 0.9
        if size > 1 and doubtful and last.lower not in COMMON and tokens[i + 1].text not in DEMONYMS:
            return "PERSON", 0.75
        if size > 1 and len(head.text) == 1 and len(last.text) > 1 and last.lower not in COMMON and text[head.end] == ".":
            return "PERSON", 0.8
        if size > 1 and any(t.text in GIVEN_NAMES for t in tokens[i + 1:j]) and head.text not in DEMONYMS and not head.first:
            return "PERSON", 0.65
        if size == 1 and given and not doubtful:
            return "PERSON", 0.75
        greeted = before in GREETING or re.search(r"(?:regards|sincerely|cheers|thanks|best|wishes|yours|grüße|grüßen),?\s+\Z", text[max(0, start - 24):start], re.I)
        if size == 1 and (doubtful or given):
            if greeted or after in SAYING or text[end:end + 2] == ": " and head.first:
                return "PERSON", 0.65
            return ("PERSON", 0.35) if not head.first else None
        if head.lower in COMMON and size == 1 or len(name) < 2 or any(t.text in DEMONYMS for t in tokens[i:j]):
            return None
        versus = re.match(r" (?:v|vs)\.? [A-ZÀ-Þ]", text[end:end + 6]) or re.search(r"[\w.)] (?:v|vs)\.? \Z", text[max(0, start - 6):start])
        if versus:
            return "PERSON", 0.7
        if size > 1 and (greeted or text[end:end + 2] == " <" and "@" in text[end:end + 80]):
            return "PERSON", 0.75
        plural = size == 1 and head.first and (head.text.endswith("s") or head.text.endswith("ing"))
        if size <= 4 and (after in SAYING or after in DOING or before in ("said", "says", "sagte", "dit", "dijo")) and not plural:
            return "PERSON", 0.55 if head.first and size == 1 else 0.7
        if size == 1 and greeted and not head.first and before in ("hi", "hello", "hey", "dear", "thanks", "hallo"):
            return "PERSON", 0.7
        if size in (2, 3) and ROLE_AFTER.match(text[end:end + 24]):
            return "PERSON", 0.7
        if size in (2, 3) and SURNAME.search(last.text) and last.lower not in COMMON and head.lower not in COMMON and not head.lower.endswith("ing"):
            return "PERSON", 0.6
        return None

    def placed(self, i, j, name):
        """Recognises a name only by the words around it."""
        tokens, text, size = self.tokens, self.text, j - i
        head = tokens[i]
        if size > 3 or head.lower in COMMON or len(name) < 3 or any(t.text in DEMONYMS or t.text.isupper() for t in tokens[i:j]):
            return None
        before, earlier, after = self.before(i), self.before(i, 2), self.after(j)
        start, end = self.span(i, j)
        if text[end:end + 2] == ", " and j < len(tokens) and tokens[j].text in PLACES and tokens[j].start == end + 2:
            return "LOCATION", 0.75
        if after in TRADING:
            return "ORGANIZATION", 0.6
        if after in ("shares", "stock", "employees", "customers", "CEO", "headquarters"):
            return "ORGANIZATION", 0.6
        if before in ("at", "for", "joined", "by", "of", "from", "with") and earlier in EMPLOYING or before in ("joined", "left", "company", "firm", "startup"):
            return "ORGANIZATION", 0.6
        if before in LOCATING | {"to", "from", "at"} and earlier in TRAVEL:
            return "LOCATION", 0.65
        if before in LOCATING and not (after and after[0].isdigit()):
            return "LOCATION", 0.55
        if before == "against" and size == 1:
            return "PERSON", 0.5
        if before in ("from", "to", "via") and size == 1:
            return "LOCATION", 0.4
        if not head.first and size in (2, 3):
            return "PERSON", 0.4
        return None


def opens(text, border, between):
    """Returns whether a sentence begins after this gap between two words."""
    if not between:
        return False
    if "\n" in between or any(c in between for c in "!?…。"):
        return True
    if "." in between:
        left = text[max(0, border - 12):border].split()[-1:] or [""]
        return not (len(left[0]) == 1 and left[0].isupper() or left[0].lower() in TITLES | {"v", "vs", "no", "inc", "ltd", "co"})
    return any(c in between for c in "\"“«:•|") or between.strip() in ("-", "–", "—", "*")
