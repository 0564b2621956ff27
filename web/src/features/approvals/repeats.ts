import type { Verdict } from '../../api/types';

const plain = (sentence: string): string => sentence.trim().replace(/\.$/, '').toLowerCase();

/** The verdict without the capability changes that the reasons of the request already name. */
export function withoutRepeats(verdict: Verdict, reasons: readonly string[]): Verdict {
  const said = new Set(reasons.map(plain));
  return {
    ...verdict,
    capabilityChanges: verdict.capabilityChanges.filter(({ message }) => !said.has(plain(message))),
  };
}
