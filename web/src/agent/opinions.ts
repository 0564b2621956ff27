// Stores the findings of the last review by a language model. A finding is shown until its file changes.
import { create } from 'zustand';
import type { Files, Remark } from '../api/types';

interface Opinions {
  /** The ID of the reviewed agent; '' if there is no review. */
  agent: string;
  model: string;
  remarks: readonly Remark[];
  /** The contents of the files at the time of the review. */
  files: Files;
}

export const useOpinions = create<Opinions>(() => ({ agent: '', model: '', remarks: [], files: {} }));

/** Returns the findings about an agent whose files have not changed since the review. */
export const standing = ({ agent, remarks, files }: Opinions, id: string, now: Files): readonly Remark[] =>
  agent === id ? remarks.filter(({ file }) => files[file] === now[file]) : [];
