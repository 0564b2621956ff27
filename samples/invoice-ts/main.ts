import { cents, format } from "./lib/money";
import { ruleFor, taxOn } from "./lib/tax";

export default function main(input: Input): Output {
  const rule = ruleFor(input.country);
  let netCents = 0;
  for (const line of input.lines) {
    const amount = line.quantity * cents(line.unitPrice);
    netCents += amount;
    console.log(`${line.quantity} × ${line.description}: ${format(amount, rule.currency)}`);
  }

  const taxCents = taxOn(netCents, rule);
  const totalCents = netCents + taxCents;
  console.log(`Tax ${rule.percent} %: ${format(taxCents, rule.currency)}`);
  console.log(`\x1b[1mTotal: ${format(totalCents, rule.currency)}\x1b[0m`);
  return {
    customer: input.customer,
    currency: rule.currency,
    netCents,
    taxCents,
    totalCents,
    total: format(totalCents, rule.currency),
  };
}
