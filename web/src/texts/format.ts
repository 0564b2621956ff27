// Formats numbers, times and plurals. This file defines the language of the texts.
const locale = 'en';

const rules = new Intl.PluralRules(locale);
const grouped = new Intl.NumberFormat(locale);
// The locale is Swedish, because it formats dates as 2026-11-23 and uses the 24-hour clock.
const clock = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'short' });
const fixed = [0, 1, 2].map(
  (digits) =>
    new Intl.NumberFormat(locale, {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
      useGrouping: false,
    }),
);
const short = new Intl.NumberFormat(locale, { maximumFractionDigits: 1, useGrouping: false });

/** Formats a measured number with a fixed number of decimals. */
export const measured = (n: number, digits: 0 | 1 | 2): string => (fixed[digits] ?? short).format(n);

/** Formats a count with thousands separators. */
export const number = (n: number): string => grouped.format(n);

/** The plural forms of a word, such as one and other. */
export type Forms = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

/** Returns the plural form for a count, without the number. */
export const form = (n: number, forms: Forms): string => forms[rules.select(n)] ?? forms.other;

export const plural = (n: number, forms: Forms): string => `${number(n)} ${form(n, forms)}`;

export const seconds = (ms: number): string => `${measured(ms / 1000, 1)} s`;

export function milliseconds(ms: number): string {
  if (ms < 1) return `${measured(ms, 2)} ms`;
  if (ms < 10) return `${measured(ms, 1)} ms`;
  if (ms < 1000) return `${measured(ms, 0)} ms`;
  if (ms < 60_000) return `${measured(ms / 1000, ms % 1000 === 0 ? 0 : ms < 10_000 ? 2 : 1)} s`;
  const whole = Math.round(ms / 1000); // rounds before splitting: 119.7 s is 2 min, not 1 min 60 s
  const rest = whole % 60;
  return `${Math.floor(whole / 60)} min${rest === 0 ? '' : ` ${rest} s`}`;
}

export function bytes(n: number): string {
  if (n < 1024) return `${n} B`;
  // A value that rounds to 1024 gets the next larger unit.
  if (n / 1024 < 1023.5) return `${size(n / 1024)} KiB`;
  if (n / 1024 ** 2 < 1023.5) return `${size(n / 1024 ** 2)} MiB`;
  return `${size(n / 1024 ** 3)} GiB`;
}

const size = (n: number): string => (n < 10 ? short.format(n) : measured(n, 0));

export function ago(iso: string, now: number): string {
  const past = Math.round((now - Date.parse(iso)) / 1000);
  if (Number.isNaN(past)) return '';
  if (past < 60) return 'just now';
  if (past < 3600) return `${Math.floor(past / 60)} min ago`;
  if (past < 86_400) return `${Math.floor(past / 3600)} h ago`;
  if (past < 30 * 86_400) return `${Math.floor(past / 86_400)} d ago`;
  return day(iso);
}

/** Returns the date of a server time. It is the same in every language and time zone. */
export const day = (iso: string): string => iso.slice(0, 10);

/** Formats a time in the user's time zone, for example 2026-11-23 00:00. */
export const moment = (iso: string): string => clock.format(new Date(iso));

const hands = new Intl.DateTimeFormat('sv', { timeStyle: 'medium' });

/** Formats the time of day in the user's time zone, for example 09:05:01. */
export const timeOfDay = (iso: string): string => hands.format(new Date(iso));

/** Formats the time of day in the user's time zone with milliseconds, for example 09:05:01.250. */
export function clockTime(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return '';
  const two = (n: number): string => String(n).padStart(2, '0');
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${String(at.getMilliseconds()).padStart(3, '0')}`;
}

/**
 * Replaces the control characters that reverse the direction of a text by visible characters. So the text appears as it
 * is stored.
 */
export const withControls = (text: string): string =>
  text.replace(/[\u202a-\u202e\u2066-\u2069]/g, (sign) => `[U+${sign.charCodeAt(0).toString(16).toUpperCase()}]`);

/** Adds a full stop to a text that a person wrote, so that a sentence can follow it. */
export const sentence = (text: string): string => (/[.!?…]$/.test(text.trim()) ? text.trim() : `${text.trim()}.`);
