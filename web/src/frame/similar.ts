/**
 * Returns up to three names that have the most pairs of letters in common with the given name. The most similar name is
 * first.
 */
export function similar(wanted: string, names: readonly string[]): string[] {
  return names
    .map((name) => ({ name, share: shareOf(pairsOf(wanted), pairsOf(name)) }))
    .filter(({ share }) => share >= 0.4)
    .sort((a, b) => b.share - a.share)
    .slice(0, 3)
    .map(({ name }) => name);
}

/** Returns the pairs of neighbouring letters. The start and the end of the word count as letters. */
function pairsOf(word: string): Set<string> {
  const letters = ` ${word.toLowerCase()} `;
  return new Set(Array.from({ length: letters.length - 1 }, (_, i) => letters.slice(i, i + 2)));
}

function shareOf(a: Set<string>, b: Set<string>): number {
  const both = [...a].filter((pair) => b.has(pair)).length;
  return (2 * both) / (a.size + b.size);
}
