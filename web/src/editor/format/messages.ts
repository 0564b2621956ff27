// Defines the messages between the page and the formatter worker.

export interface FormatRequest {
  id: number;
  language: 'javascript' | 'typescript' | 'python';
  path: string;
  code: string;
  tabSize: number;
}

export type FormatAnswer = { id: number; code: string } | { id: number; fault: string; line: number | undefined };
