// Contains the types of /api/v1, generated from the server's OpenAPI document (schema.d.ts). Arbitrary JSON has the
// type JSON.
import type { Json, JsonObject } from './json';
import type { components } from './schema';

type Wire = components['schemas'];
type With<T, Change> = Omit<T, keyof Change> & Change;

export type JsonSchema = JsonObject | boolean;
interface Schemas {
  inputSchema: JsonSchema;
  outputSchema: JsonSchema;
}

export type Language = Wire['Draft']['language'];
export type Files = Wire['Draft']['files'];
export type FileContent = Files[string];
export type Limits = Wire['Limits'];
export type Rules = Wire['Rules'];
type Saved = Pick<Wire['Draft'], 'savedAt' | 'savedBy'>;
/** A draft that the server sends contains the person who saved it and the time. An edited draft does not. */
export type Draft = With<Omit<Wire['Draft'], keyof Saved>, Schemas & { tests?: Test[] }> & Partial<Saved>;
/** One entry in the history of a draft. */
export type DraftSave = Wire['DraftSave'];
export type About = With<
  Pick<Wire['Agent'], 'name' | 'title' | 'description' | 'tags'>,
  { metadata: Record<string, unknown> }
>;
export type Agent = With<Wire['Agent'], { draft: Draft; metadata: Record<string, unknown> }>;
export type AgentSummary = Wire['AgentSummary'];
export type ListedAgent = Wire['ListedAgent'];
export type ListedVersion = Wire['ListedVersion'];
export type ToolSet = Wire['ToolSet'];
export type ToolSetBody = Wire['ToolSetBody'];
export type SetTool = Wire['SetTool'];
export type Skill = Wire['Skill'];
export type SkillList = Wire['SkillList'];
export type Token = Wire['Token'];
export type NewToken = Wire['NewToken'];
export type TokenBody = Wire['TokenBody'];
export type SignInMethods = Wire['SignInMethods'];
export type Secret = Wire['Secret'];
export type SecretBody = Wire['SecretBody'];
export type Quotas = Wire['Quotas'];
export type OwnQuota = Wire['OwnQuota'];
export type Usage = Wire['Monthly'];
export type MeterReading = Wire['MeterReading'];
export type Budget = Wire['Balance'];
export type BudgetBody = Wire['BudgetBody'];
export type Workspace = Wire['Workspace'];
export type OpenSession = Wire['OpenSession'];
export type Scope = Token['scopes'][number];
export type Role = Wire['Member']['role'];
export type Member = Wire['Member'];
export type Invitation = Wire['Invitation'];
export type NewInvitation = Wire['NewInvitation'];
export type Invited = Wire['Invited'];
export type Pin = Wire['Pin'];
export type Imported = Wire['Imported'];
export type ImportReport = Wire['ImportReport'];
export type ImportToolBody = Omit<Wire['ImportToolBody'], 'tool'> & { tool: Json };

/** The body of POST and PUT for an agent: the fields of the draft and those of the agent. */
export type AgentBody = With<Wire['AgentBody'], Partial<Schemas> & { name: string; tests?: Test[] }>;

export type VersionSummary = Wire['VersionSummary'];
export type Version = With<Wire['Version'], Schemas & { tests?: Test[] }>;
export type FoundPackage = Wire['Found'];
export type CollectedPackages = Wire['Collected'];
export type InstalledPackages = Wire['InstalledPackages'];
export type PackageDependency = Wire['Dependency'];
export type PackageTypes = Wire['Types'];
export type ResolvedPackages = Wire['Resolved'];
export type Diff = With<Wire['Diff'], { settings: With<Wire['SettingDiff'], { before: Json; after: Json }>[] }>;
export type Advice = Wire['Advice'];
export type Sample = With<Wire['Sample'], { input: Json; agent: AgentBody }>;
export type DraftRuntime = Wire['DraftRuntime'];
export type RuntimeChoice = Wire['RuntimeChoice'];
export type Health = Wire['Health'];
export type Capabilities = Wire['ServerCapabilities'];
export type RuntimeState = Wire['RuntimeState'];
export type RuntimeList = Wire['RuntimeList'];
export type Session = Wire['Session'];

export type RunStatus = Wire['RunAnswer']['status'];
export type RunAnswer = With<Wire['RunAnswer'], { output: Json }>;
export type Run = With<Wire['Run'], { input: Json; output: Json }>;
export type RunSummary = Wire['RunSummary'];
export type Route = Wire['Route'];
export type Metrics = Wire['Metrics'];
export type Provenance = Wire['Provenance'];

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** OpenAPI describes only the outer object of an event in the WebSocket stream. */
export type RunEvent = Pick<Wire['Event'], 'seq' | 'at'> &
  (
    | { kind: 'status'; data: { status: RunStatus; position?: number } }
    | { kind: 'stdout' | 'stderr'; data: string }
    | { kind: 'log'; data: { level: LogLevel; message: string; fields?: JsonObject } }
    | { kind: 'progress'; data: { done: number; total: number; message?: string } }
    | { kind: 'dropped'; data: { bytes: number } }
    | { kind: 'result'; data: RunAnswer }
    | { kind: 'egress'; data: EgressData }
    | { kind: 'call'; data: CallData }
  );

export type Test = With<
  Wire['Test'],
  { input: Json; expect: With<Wire['Expectation'], { output?: Json; matches?: JsonSchema }> }
>;
export type TestDifference = With<Wire['Difference'], { expected?: Json; actual?: Json }>;
export type TestResult = With<Wire['Result'], { output?: Json; differences?: TestDifference[] }>;
export type GeneratedTests = With<
  Wire['Generation'],
  { cases: With<Wire['Generated'], { test: Test; result: TestResult }>[] }
>;
export type Attempt = Wire['Attempt'];
type TrialRun = With<Wire['Trial'], { output?: Json }>;
export type Proposal = With<
  Wire['Proposal'],
  {
    files: Files;
    schemas?: { input?: JsonSchema; output?: JsonSchema };
    tests?: Test[];
    sampleInput?: Json;
    trial: TrialRun;
  }
>;
/** An agent that a language model proposes. */
export type ProposedAgent = With<
  Wire['Program'],
  Schemas & { files: Files; sampleInput: Json; tests: Test[]; trial: TrialRun }
>;
export type ChangeTask = Wire['ChangeBody']['task'];
export type Opinion = Wire['Opinion'];
export type Suggestion = Wire['Suggestion'];
export type Remark = Wire['Remark'];
export type TestsReport = With<Wire['TestsReport'], { results: TestResult[] }>;
export type ReplayReport = Wire['Report'];
export type ReplayItem = Wire['Item'];

export type Project = Wire['Project'];
export type ProjectDetail = Wire['ProjectDetail'];
export type ProjectFile = Wire['ProjectFile'];
export type ProjectFileContent = Wire['ProjectFileContent'];
export type Overlay = Wire['Overlay'];
export type ProjectChange = Wire['ProjectChange'];
export type Task = Wire['Task'];
export type TaskStatus = Task['status'];
export type OverlayDiff = Wire['OverlayDifference'];
export type Approval = With<Wire['Approval'], { input?: Json }>;
/** A request for approval, with the difference between its program and the approved version. */
export type ApprovalDetails = Approval & Pick<Wire['Details'], 'approvers' | 'comparison' | 'inputWithheld'>;
/** A webhook about a request for approval. */
export type Delivery = Wire['Delivery'];
export type Verdict = Wire['Verdict'];
export type GateSettings = Wire['GateSettings'];
export type RulePack = Wire['PackInfo'];
export type Rule = Wire['Rule'];
/** A program with which the user tries rules. */
export type Trial = Wire['TrialBody'];
/** A run that the policy service denied. */
export type BlockedRequest = With<Wire['BlockedRequest'], { input?: Json }>;
export type VerdictFinding = Wire['Finding'];
/** A request for a publication that waits for a person's approval. */
export type AwaitedPublication = Wire['AwaitedPublication'];
export type Finding = Wire['Detail'];
/** How a schema was made. */
export type SchemaSource = Wire['SchemaSource'];
export type Inferred = With<Wire['InferredSchemas'], Schemas>;
export type Module = Wire['Module'];
export type ModuleFunction = Wire['ModuleFunction'];
export type Validation = Wire['ValidateReport'];
export type Formatted = Wire['FormatReport'];

/**
 * A program called another agent, which gives one event when the called run starts and one when it ends. Or the program
 * called a host function. Then `function` is the name of the host function, and `path` is the file that the call is
 * about.
 */
export interface CallData {
  reference?: string;
  function?: string;
  path?: string;
  version?: string;
  runId?: string;
  status: RunStatus | 'refused';
  error?: string;
  ms?: number;
}

export interface EgressData {
  host: string;
  port: number;
  decision: 'allowed' | 'denied' | 'failed';
  rule: string;
  bytes: number;
  ms: number;
}

export interface FieldProblem {
  pointer: string;
  message: string;
  file?: string;
  line?: number;
}
