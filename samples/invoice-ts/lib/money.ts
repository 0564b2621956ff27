/** Money is counted in whole cents: 0.1 + 0.2 is not 0.3 in floating point. */
export function cents(amount: number): number {
  return Math.round(amount * 100);
}

export function format(amountCents: number, currency: string): string {
  const whole = Math.floor(amountCents / 100);
  const rest = String(amountCents % 100).padStart(2, "0");
  const grouped = String(whole).replace(/\B(?=(\d{3})+$)/g, " ");
  return `${grouped}.${rest} ${currency}`;
}
