from __future__ import annotations

from typing import TypedDict


class Question(TypedDict):
    text: str
    answers: list[Answer]


class Answer(TypedDict):
    text: str
    follow: Question | None


def main(first: Question, second: Answer) -> list[Question]:
    return [first]
# valid {"first": {"text": "?", "answers": [{"text": "!", "follow": null}]}, "second": {"text": "!", "follow": {"text": "?", "answers": []}}}
# invalid {"first": {"text": "?"}, "second": {"text": "!", "follow": null}}
# invalid {"first": {"text": "?", "answers": [{"text": "!", "follow": 1}]}, "second": {"text": "!", "follow": null}}
