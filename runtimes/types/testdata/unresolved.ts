import { Thing } from "./missing";

export default function main(input: {
  count: number;
  other: Missing;
  thing: Thing;
}): Missing[] {
  return [];
}
// valid {"count": 1, "other": 1, "thing": 1}
// invalid {"count": "1", "other": 1, "thing": 1}
