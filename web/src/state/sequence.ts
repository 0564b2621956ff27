// Recognizes sequences of keys, such as "g s".
import { lastOf, leadOf, matches, parseChord, type KeyPress } from './hotkeys';

// The maximum time between the keys of a sequence, in milliseconds. After this time, a key that was pressed by accident
// has no effect.
const lasts = 1500;

interface Press extends KeyPress {
  timeStamp: number;
}

export class Sequence {
  private first = '';
  private at = 0;

  /**
   * Returns the command that a key starts. If `taken` is true, as in a file tree that uses letters, no sequence starts.
   */
  next<T extends { keys: string }>(all: readonly T[], press: Press, taken: boolean, mac: boolean): T | undefined {
    const before = taken || press.timeStamp - this.at > lasts ? '' : this.first;
    this.first = '';
    const after = (first: string): T | undefined =>
      all.find(({ keys }) => leadOf(keys) === first && matches(lastOf(keys), press, mac));
    const hit = after(before) ?? after('');
    if (hit || taken) return hit;
    const firsts = all.map(({ keys }) => leadOf(keys)).filter((first) => first !== '');
    this.first = firsts.find((first) => matches(parseChord(first), press, mac)) ?? '';
    this.at = press.timeStamp;
    return undefined;
  }
}
