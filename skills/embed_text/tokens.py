"""BERT's WordPiece tokenizer. It converts a text to the numbers of pieces in the vocabulary."""

import json
import os
import unicodedata


class Tokenizer:
    def __init__(self, folder, error):
        self.vocabulary, self.lower = {}, True
        fast, plain, settings = (os.path.join(folder, name) for name in ("tokenizer.json", "vocab.txt", "tokenizer_config.json"))
        if os.path.isfile(settings):
            self.lower = read(settings).get("do_lower_case", True)
        if os.path.isfile(plain):
            with open(plain, encoding="utf-8") as file:
                self.vocabulary = {line.rstrip("\n"): number for number, line in enumerate(file)}
        elif os.path.isfile(fast):
            told = read(fast)
            if told.get("model", {}).get("type", "WordPiece") != "WordPiece":
                raise error("its tokenizer is not WordPiece, the only one that this skill knows")
            self.vocabulary = told["model"]["vocab"]
            normalizer = told.get("normalizer") or {}
            self.lower = normalizer.get("lowercase", self.lower)
        missing = [name for name in ("[CLS]", "[SEP]", "[UNK]") if name not in self.vocabulary]
        if missing:
            raise error(f"its vocabulary (vocab.txt or tokenizer.json) has no {missing[0]}")

    def encode(self, text, longest):
        numbers = [self.vocabulary[piece] for word in self.words(text) for piece in self.pieces(word)]
        return [self.vocabulary["[CLS]"], *numbers[:longest - 2], self.vocabulary["[SEP]"]]

    def words(self, text):
        for word in "".join(self.clean(text)).split():
            if self.lower:
                word = "".join(c for c in unicodedata.normalize("NFD", word.lower()) if unicodedata.category(c) != "Mn")
            part = ""
            for c in word:
                if punctuation(c):
                    if part:
                        yield part
                    yield c
                    part = ""
                else:
                    part += c
            if part:
                yield part

    @staticmethod
    def clean(text):
        for c in text:
            if c in "\t\n\r" or unicodedata.category(c) == "Zs":
                yield " "
            elif c == "\0" or c == "\ufffd" or unicodedata.category(c) in ("Cc", "Cf", "Cn", "Co", "Cs"):
                continue
            elif chinese(ord(c)):
                yield f" {c} "
            else:
                yield c

    def pieces(self, word):
        if len(word) > 100:
            return ["[UNK]"]
        found, start = [], 0
        while start < len(word):
            mark, end = "##" if start else "", len(word)
            while mark + word[start:end] not in self.vocabulary:
                end -= 1
                if end == start:
                    return ["[UNK]"]
            found.append(mark + word[start:end])
            start = end
        return found


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def punctuation(c):
    n = ord(c)
    return 33 <= n <= 47 or 58 <= n <= 64 or 91 <= n <= 96 or 123 <= n <= 126 or unicodedata.category(c).startswith("P")


def chinese(n):
    return (
        0x4E00 <= n <= 0x9FFF or 0x3400 <= n <= 0x4DBF or 0x20000 <= n <= 0x2A6DF or 0x2A700 <= n <= 0x2B73F
        or 0x2B740 <= n <= 0x2B81F or 0x2B820 <= n <= 0x2CEAF or 0xF900 <= n <= 0xFAFF or 0x2F800 <= n <= 0x2FA1F
    )
