import rates from "../data/rates.json";

export type Rule = { currency: string; percent: number };

export function ruleFor(country: Input["country"]): Rule {
  return rates[country];
}

export function taxOn(netCents: number, rule: Rule): number {
  return Math.round((netCents * rule.percent) / 100);
}
