const units = ["metric", "imperial"] as const;
const limits = { low: 1, high: 9 } as const satisfies Record<string, number>;
export default function main(input: { unit: (typeof units)[number]; limit: (typeof limits)[keyof typeof limits] }): keyof typeof limits {
  return "low";
}
// valid {"unit": "metric", "limit": 9}
// invalid {"unit": "other", "limit": 9}
// invalid {"unit": "metric", "limit": 2}
