interface Question { text: string; answers: Answer[] }
interface Answer { text: string; follow: Question | null }
type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export default function main(input: { first: Question; json: Json }): Json {
  return null;
}
// valid {"first": {"text": "?", "answers": [{"text": "!", "follow": null}]}, "json": {"a": [1, {"b": null}]}}
// invalid {"first": {"text": "?", "answers": [{"text": "!"}]}, "json": 1}
// invalid {"first": {"text": "?"}, "json": 1}
