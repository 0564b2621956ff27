// The wire of /api/v1, as the Studio reads it.
import type { Json, JsonObject } from './json';

export type Language = 'javascript' | 'typescript' | 'python' | 'bash';
export type JsonSchema = JsonObject | boolean;
export type FileContent = string | { base64: string };
export type Files = Record<string, FileContent>;

export interface Limits {
  timeoutMs: number;
  cpuMs: number;
  memoryBytes: number;
  processes: number;
  outputBytes: number;
  diskBytes: number;
  recursionDepth: number;
}

export interface Draft {
  revision: number;
  language: Language;
  runtime: string;
  files: Files;
  entrypoint: string;
  inputSchema: JsonSchema;
  outputSchema: JsonSchema;
  packages: Json[];
  environment: Record<string, string>;
  secrets: string[];
  capabilities: JsonObject;
  limits: Limits;
  safetyFlags: string[];
  requiresApproval: boolean;
  deterministic: boolean;
}

export interface About {
  name: string;
  title: string;
  description: string;
  tags: string[];
  metadata: JsonObject;
}

export interface Agent extends About {
  id: string;
  listed: boolean;
  latestVersion: string;
  usageCount: number;
  draft: Draft;
  createdAt: string;
  updatedAt: string;
}

export interface AgentSummary {
  id: string;
  name: string;
  title: string;
  description: string;
  tags: string[];
  language: Language;
  state: 'draft' | 'published';
  latestVersion: string;
  updatedAt: string;
}

/** What POST and PUT of an agent take: the draft's fields beside the agent's own. */
export type AgentBody = Partial<Omit<Draft, 'revision'>> & Partial<About> & { name: string };

export interface VersionSummary {
  version: string;
  digest: string;
  contentDigest: string;
  codeDigest: string;
  changelog: string;
  publishedAt: string;
  publishedBy: string;
  deprecated: boolean;
  language: Language;
  runtime: string;
}

export type Version = VersionSummary & Omit<Draft, 'revision'>;

export interface Sample {
  name: string;
  title: string;
  description: string;
  language: Language;
  input: Json;
  agent: AgentBody;
}

export interface Capabilities {
  languages: { language: Language; runtimes: string[]; available: boolean; interpreter?: string; reason?: string }[];
  limits: { defaults: Limits; ceilings: Limits };
  sandbox: { level: string; missing: string[] };
  exportFormats: string[];
}

export interface Session {
  actor: { id: string; type: string; name: string };
  workspace: { id: string; name: string };
}

export type RunStatus =
  | 'queued'
  | 'awaiting_approval'
  | 'running'
  | 'succeeded'
  | 'failed'
  | 'timed_out'
  | 'cancelled'
  | 'blocked'
  | 'interrupted';

export interface RunError {
  type: string;
  message: string;
  file?: string;
  line?: number;
  column?: number;
  stack?: string;
  remedy?: string;
}

export interface Metrics {
  queuedMs: number;
  startMs: number;
  runMs: number;
  totalMs: number;
  cpuMs: number;
  peakMemoryBytes: number;
}

export interface RunAnswer {
  runId: string;
  status: RunStatus;
  success: boolean;
  output?: Json;
  error?: RunError | null;
  truncated: boolean;
  exitCode?: number | null;
  validation: { input: string; output: string };
  metrics: Metrics;
  provenance: JsonObject;
}

export interface Run extends RunAnswer {
  input: Json;
  createdAt: string;
}

export interface RunSummary {
  runId: string;
  agent: string;
  version: string;
  status: RunStatus;
  createdAt: string;
  totalMs: number;
  error?: RunError | null;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

interface Stamp {
  seq: number;
  at: string;
}
export type RunEvent = Stamp &
  (
    | { kind: 'status'; data: { status: RunStatus; position?: number } }
    | { kind: 'stdout' | 'stderr'; data: string }
    | { kind: 'log'; data: { level: LogLevel; message: string; fields?: JsonObject } }
    | { kind: 'progress'; data: { done: number; total: number; message?: string } }
    | { kind: 'dropped'; data: { bytes: number } }
    | { kind: 'result'; data: RunAnswer }
    | { kind: 'call' | 'egress'; data: Json }
  );

export interface Finding {
  code: string;
  message: string;
  pointer?: string;
  file?: string;
  line?: number;
  column?: number;
}

export interface Validation {
  valid: boolean;
  errors: Finding[];
  warnings?: Finding[];
}

export interface FieldProblem {
  pointer: string;
  message: string;
}
