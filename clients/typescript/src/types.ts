// The types of the API, generated from the server's OpenAPI document.
import type { components } from './schema.js';

type Wire = components['schemas'];

export type Accepted = Wire['Accepted'];
export type Agent = Wire['Agent'];
export type AgentBody = Wire['AgentBody'];
export type AwaitedPublication = Wire['AwaitedPublication'];
export type Detail = Wire['Detail'];
export type InlineBody = Wire['InlineBody'];
export type LimitsBody = Wire['LimitsBody'];
export type PublishBody = Wire['PublishBody'];
export type Published = Wire['Published'];
export type ResolvedReference = Wire['ResolvedReference'];
export type Run = Wire['Run'];
export type RunAnswer = Wire['RunAnswer'];
export type RunStatus = RunAnswer['status'];
export type ToolSet = Wire['ToolSet'];
export type ToolSetBody = Wire['ToolSetBody'];

/** One event of a run. `seq` increases from event to event. The last event has the kind `result`. */
export type RunEvent = { seq: number; at: string } & (
  | { kind: 'status'; data: { status: RunStatus; position?: number } }
  | { kind: 'stdout' | 'stderr'; data: string }
  | { kind: 'log'; data: { level: string; message: string; fields?: Record<string, unknown> } }
  | { kind: 'progress'; data: { done: number; total?: number; message?: string } }
  | { kind: 'call' | 'egress' | 'dropped'; data: Record<string, unknown> }
  | { kind: 'result'; data: RunAnswer }
);

/** The formats in which a version can be exported as a tool. */
export type Format = 'atelier' | 'openai' | 'langchain' | 'anthropic' | 'gemini' | 'mcp' | 'openapi';
