// The findings of the last review by a language model. They are shown until their file changes.
import { create } from 'zustand';
import type { Files, Remark } from '../api/types';

interface Opinions {
  /** Identifier of the agent, '' for none. */
  agent: string;
  model: string;
  remarks: readonly Remark[];
  /** The files that were reviewed. */
  files: Files;
}

export const useOpinions = create<Opinions>(() => ({ agent: '', model: '', remarks: [], files: {} }));

/** The findings that still belong to the files of an agent. */
export const standing = ({ agent, remarks, files }: Opinions, id: string, now: Files): readonly Remark[] =>
  agent === id ? remarks.filter(({ file }) => files[file] === now[file]) : [];
