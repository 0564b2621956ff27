import type { Verdict } from '../../api/types';

const plain = (sentence: string): string => sentence.trim().replace(/\.$/, '').toLowerCase();

/** Returns the verdict without the capability changes that are already in the reasons of the request. */
export function withoutRepeats(verdict: Verdict, reasons: readonly string[]): Verdict {
  const said = new Set(reasons.map(plain));
  return {
    ...verdict,
    capabilityChanges: verdict.capabilityChanges.filter(({ message }) => !said.has(plain(message))),
  };
}
