export const main = (input: { unit: "celsius" | "kelvin"; level: 1 | 2 | 3; mode: "fast" | null; fixed: "yes"; on: true }) => input.unit;
// valid {"unit": "kelvin", "level": 2, "mode": null, "fixed": "yes", "on": true}
// invalid {"unit": "f", "level": 2, "mode": null, "fixed": "yes", "on": true}
// invalid {"unit": "kelvin", "level": 4, "mode": null, "fixed": "yes", "on": true}
// invalid {"unit": "kelvin", "level": 1, "mode": "slow", "fixed": "yes", "on": true}
