interface Input {
  anything: any;
  whatever: unknown;
  callback: () => void;
  big: bigint;
  raw: Uint8Array;
  map: Map<string, number>;
  when: Date;
  object: object;
  none: {};
}
export default function main(input: Input): { when: Date; set: Set<string> } {
  return { when: new Date(), set: new Set() };
}
// valid {"anything": 1, "whatever": 2, "callback": 3, "big": 4, "raw": [5], "map": {}, "when": "2026-01-02T03:04:05Z", "object": {}, "none": {}}
// invalid {"anything": 1, "whatever": 2, "callback": 3, "big": 4, "raw": [5], "map": {}, "when": "today", "object": {}, "none": {}}
// invalid {"anything": 1, "whatever": 2, "callback": 3, "big": 4, "raw": [5], "map": {}, "when": "2026-01-02T03:04:05Z", "object": 1, "none": {}}
