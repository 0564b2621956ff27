"""The types of the API. generate.py writes this file from docs/openapi.json."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class Accepted(TypedDict):
    approvalId: NotRequired[str]
    approvers: NotRequired[list[str]]
    draftRevision: NotRequired[int]
    expiresAt: NotRequired[str]
    reasons: NotRequired[list[str]]
    runId: str
    status: Literal[
        "queued",
        "awaiting_approval",
        "running",
        "succeeded",
        "failed",
        "timed_out",
        "cancelled",
        "blocked",
        "interrupted",
    ]


class Advice(TypedDict):
    base: str
    bump: Literal["none", "patch", "minor", "major"]
    reasons: list[Reason]
    version: str


class Agent(TypedDict):
    changelog: list[ChangelogEntry]
    createdAt: str
    description: str
    draft: Draft
    id: str
    lastUsedAt: NotRequired[str]
    latestDeprecated: NotRequired[bool]
    latestVersion: str
    listed: bool
    metadata: Any
    name: str
    origin: NotRequired[Origin]
    tags: list[str]
    title: str
    updatedAt: str
    usageCount: int


class AgentBody(TypedDict):
    capabilities: NotRequired[CapabilitiesBody]
    code: NotRequired[str]
    description: NotRequired[str]
    deterministic: NotRequired[bool]
    entrypoint: NotRequired[str]
    environment: NotRequired[dict[str, str]]
    files: NotRequired[dict[str, str | dict[str, Any]]]
    inputSchema: NotRequired[Any]
    isolation: NotRequired[Literal["", "strict"]]
    language: NotRequired[Literal["typescript", "javascript", "python", "bash", "wasm"]]
    limits: NotRequired[AgentLimits]
    metadata: NotRequired[dict[str, Any]]
    name: NotRequired[str]
    outputSchema: NotRequired[Any]
    packages: NotRequired[list[str]]
    requiresApproval: NotRequired[bool]
    rules: NotRequired[RulesBody]
    runtime: NotRequired[str]
    safetyFlags: NotRequired[list[str]]
    schemaSources: NotRequired[SchemaSources]
    secrets: NotRequired[list[str]]
    tags: NotRequired[list[str]]
    tests: NotRequired[list[Test]]
    title: NotRequired[str]


class AgentLimits(TypedDict):
    cpuMs: NotRequired[int]
    diskBytes: NotRequired[int]
    memoryBytes: NotRequired[int]
    outputBytes: NotRequired[int]
    processes: NotRequired[int]
    recursionDepth: NotRequired[int]
    timeoutMs: NotRequired[int]


class AwaitedPublication(TypedDict):
    approvalId: str
    approvers: NotRequired[list[str]]
    message: str
    reasons: list[Detail]
    status: Literal["awaiting_approval"]
    verdict: Verdict
    warnings: NotRequired[list[Detail]]


class Capabilities(TypedDict):
    files: NotRequired[Files]
    hostFunctions: list[str]
    hosts: list[str]
    pinned: NotRequired[list[ToolPin]]
    subprocess: bool
    tools: NotRequired[list[str]]


class CapabilitiesBody(TypedDict):
    files: NotRequired[FilesBody]
    hostFunctions: NotRequired[list[str]]
    hosts: NotRequired[list[str]]
    subprocess: NotRequired[bool]
    tools: NotRequired[list[str]]


class CapabilityChange(TypedDict):
    file: NotRequired[str]
    kind: Literal[
        "host",
        "hostFunction",
        "tool",
        "files",
        "write",
        "subprocess",
        "processes",
        "secret",
        "import",
        "dynamic",
        "environment",
    ]
    line: NotRequired[int]
    message: str
    name: str


class ChangelogEntry(TypedDict):
    changes: str
    date: str
    version: str


class Detail(TypedDict):
    code: NotRequired[str]
    column: NotRequired[int]
    file: NotRequired[str]
    line: NotRequired[int]
    message: str
    pointer: NotRequired[str]


class Draft(TypedDict):
    capabilities: Capabilities
    deterministic: bool
    entrypoint: str
    environment: dict[str, str]
    files: dict[str, str | dict[str, Any]]
    inputSchema: Any
    isolation: NotRequired[str]
    language: Literal["typescript", "javascript", "python", "bash", "wasm"]
    limits: Limits
    lock: NotRequired[Lock]
    outputSchema: Any
    packages: list[str]
    requiresApproval: bool
    revision: int
    rules: NotRequired[Rules]
    runtime: str
    safetyFlags: list[str]
    savedAt: str
    savedBy: Editor
    schemaSources: NotRequired[SchemaSources]
    secrets: list[str]
    tests: NotRequired[list[Test]]


class Editor(TypedDict):
    id: str
    name: str


class Event(TypedDict):
    at: str
    data: Any
    kind: str
    seq: int


class Expectation(TypedDict):
    errorType: NotRequired[str]
    matches: NotRequired[Any]
    output: NotRequired[Any]
    schema: NotRequired[bool]


class FieldError(TypedDict):
    message: str
    pointer: str


class Files(TypedDict):
    project: str
    write: NotRequired[bool]


class FilesBody(TypedDict):
    project: str
    write: NotRequired[bool]


class Finding(TypedDict):
    column: NotRequired[int]
    count: NotRequired[int]
    file: NotRequired[str]
    line: NotRequired[int]
    message: str
    remedy: NotRequired[str]
    ruleId: str
    severity: Literal["low", "medium", "high", "critical"]
    weight: float


class Grant(TypedDict):
    hosts: NotRequired[list[str]]
    tools: NotRequired[list[str]]


class Hints(TypedDict):
    expectedMs: NotRequired[int]
    gpu: NotRequired[bool]
    isolation: NotRequired[Literal["strict", "remote"]]
    longJob: NotRequired[bool]


class InlineBody(TypedDict):
    capabilities: NotRequired[CapabilitiesBody]
    code: NotRequired[str]
    entrypoint: NotRequired[str]
    environment: NotRequired[dict[str, str]]
    files: NotRequired[dict[str, str | dict[str, Any]]]
    hints: NotRequired[Hints]
    input: NotRequired[Any]
    inputSchema: NotRequired[Any]
    isolation: NotRequired[Literal["strict"]]
    language: Literal["typescript", "javascript", "python", "bash", "wasm"]
    limits: NotRequired[LimitsBody]
    nodeId: NotRequired[str]
    outputSchema: NotRequired[Any]
    packages: NotRequired[list[str]]
    parentRunId: NotRequired[str]
    rules: NotRequired[RulesBody]
    runtime: NotRequired[str]
    workflowRunId: NotRequired[str]


class Limits(TypedDict):
    cpuMs: int
    diskBytes: int
    memoryBytes: int
    outputBytes: int
    processes: int
    recursionDepth: int
    timeoutMs: int


class LimitsBody(TypedDict):
    cpuMs: NotRequired[int]
    diskBytes: NotRequired[int]
    memoryBytes: NotRequired[int]
    outputBytes: NotRequired[int]
    processes: NotRequired[int]
    recursionDepth: NotRequired[int]
    timeoutMs: NotRequired[int]


class Lock(TypedDict):
    ecosystem: str
    packages: list[LockedPackage]
    platform: str


class LockedPackage(TypedDict):
    hash: str
    license: NotRequired[str]
    name: str
    path: NotRequired[str]
    size: NotRequired[int]
    url: str
    version: str


class Metrics(TypedDict):
    cpuMs: float
    egressBytes: NotRequired[int]
    gpuMs: NotRequired[float]
    peakMemoryBytes: int
    queuedMs: float
    remoteCost: NotRequired[float]
    remoteMs: NotRequired[float]
    runMs: float
    startMs: float
    totalMs: float


class Origin(TypedDict):
    agentId: str
    digest: str
    name: str
    newer: NotRequired[str]
    publisher: NotRequired[str]
    version: str


class Override(TypedDict):
    advice: Advice
    comment: str


class Person(TypedDict):
    id: str
    name: str
    type: str


class ProgramError(TypedDict):
    column: NotRequired[int]
    errors: NotRequired[list[FieldError]]
    file: NotRequired[str]
    grant: NotRequired[Grant]
    line: NotRequired[int]
    message: str
    remedy: NotRequired[str]
    rule: NotRequired[str]
    stack: NotRequired[str]
    type: str


class Provenance(TypedDict):
    actorId: str
    actorType: str
    agent: NotRequired[str]
    claimedActorId: NotRequired[str]
    claimedActorType: NotRequired[str]
    codeDigest: str
    digest: NotRequired[str]
    executionId: str
    executionTimeMs: float
    inputsHash: str
    isolation: str
    outputsHash: NotRequired[str]
    requestId: NotRequired[str]
    runtime: str
    success: bool
    timestamp: str
    toolIds: list[str]
    version: NotRequired[str]


class Published(TypedDict):
    agent: str
    agentId: str
    capabilities: Capabilities
    changelog: str
    codeDigest: str
    contentDigest: str
    deprecated: bool
    description: str
    deterministic: bool
    digest: str
    draftRevision: int
    entrypoint: str
    environment: dict[str, str]
    existing: NotRequired[bool]
    files: dict[str, str | dict[str, Any]]
    inputSchema: Any
    isolation: NotRequired[str]
    language: Literal["typescript", "javascript", "python", "bash", "wasm"]
    limits: Limits
    lock: NotRequired[Lock]
    outputSchema: Any
    override: NotRequired[Override]
    packages: list[str]
    publishedAt: str
    publishedBy: str
    reason: NotRequired[str]
    regressions: NotRequired[Regressions]
    requiresApproval: bool
    rules: NotRequired[Rules]
    runtime: str
    runtimeAuto: NotRequired[bool]
    runtimeChoice: NotRequired[RuntimeChoice]
    safetyFlags: list[str]
    secrets: list[str]
    successor: NotRequired[str]
    tests: NotRequired[list[Test]]
    title: str
    verdict: NotRequired[Verdict]
    version: str
    warnings: NotRequired[list[Detail]]


class Reason(TypedDict):
    bump: Literal["none", "patch", "minor", "major"]
    message: str
    pointer: str


class Regression(TypedDict):
    message: str
    test: NotRequired[str]
    version: NotRequired[str]


class Regressions(TypedDict):
    comment: str
    failed: list[Regression]


class ResolvedReference(TypedDict):
    agent: NotRequired[str]
    agentId: NotRequired[str]
    deprecated: NotRequired[bool]
    digest: NotRequired[str]
    error: NotRequired[Unresolved]
    pinned: NotRequired[str]
    reason: NotRequired[str]
    reference: str
    renamed: NotRequired[str]
    successor: NotRequired[str]
    version: NotRequired[str]


class Route(TypedDict):
    reason: str
    rule: str


class Rules(TypedDict):
    imports: NotRequired[list[str]]
    pack: str


class RulesBody(TypedDict):
    imports: NotRequired[list[str]]
    pack: Literal["restricted", "none"]


class Run(TypedDict):
    by: Person
    createdAt: str
    draftRevision: NotRequired[int]
    error: NotRequired[ProgramError]
    exitCode: NotRequired[int]
    finishedAt: NotRequired[str]
    input: Any
    language: Literal["typescript", "javascript", "python", "bash", "wasm"]
    metadata: RunMetadata
    metrics: Metrics
    nodeId: str | None
    output: Any
    parentRunId: str | None
    provenance: Provenance
    route: NotRequired[Route]
    runId: str
    startedAt: NotRequired[str]
    status: Literal[
        "queued",
        "awaiting_approval",
        "running",
        "succeeded",
        "failed",
        "timed_out",
        "cancelled",
        "blocked",
        "interrupted",
    ]
    stderr: str
    stdout: str
    success: bool
    tokensUsed: int
    traceId: NotRequired[str]
    trigger: str
    truncated: bool
    validation: Validation
    withheld: NotRequired[bool]
    workflowRunId: str | None


class RunAnswer(TypedDict):
    draftRevision: NotRequired[int]
    error: NotRequired[ProgramError]
    exitCode: NotRequired[int]
    language: Literal["typescript", "javascript", "python", "bash", "wasm"]
    metadata: RunMetadata
    metrics: Metrics
    nodeId: str | None
    output: Any
    parentRunId: str | None
    provenance: Provenance
    route: NotRequired[Route]
    runId: str
    status: Literal[
        "queued",
        "awaiting_approval",
        "running",
        "succeeded",
        "failed",
        "timed_out",
        "cancelled",
        "blocked",
        "interrupted",
    ]
    stderr: str
    stdout: str
    success: bool
    tokensUsed: int
    trigger: str
    truncated: bool
    validation: Validation
    withheld: NotRequired[bool]
    workflowRunId: str | None


class RunMetadata(TypedDict):
    agentId: NotRequired[str]
    executionTime: float
    version: NotRequired[str]


class RuntimeChoice(TypedDict):
    cpuMs: NotRequired[float]
    gaps: NotRequired[list[Detail]]
    message: str
    reason: Literal["fits", "gap", "slow", "unavailable"]
    runs: NotRequired[int]
    runtime: str


class SchemaSource(TypedDict):
    codeDigest: NotRequired[str]
    source: str


class SchemaSources(TypedDict):
    input: NotRequired[SchemaSource]
    output: NotRequired[SchemaSource]


class SetTool(TypedDict):
    agentId: str
    deprecated: NotRequired[bool]
    digest: str
    missing: NotRequired[bool]
    name: str
    newest: NotRequired[str]
    reason: NotRequired[str]
    successor: NotRequired[str]
    version: str


class Test(TypedDict):
    expect: Expectation
    ignore: NotRequired[list[str]]
    input: Any
    name: str
    source: NotRequired[Literal["person", "recorded", "generated"]]
    tags: NotRequired[list[str]]


class ToolPin(TypedDict):
    digest: str
    reference: str
    version: str


class ToolSet(TypedDict):
    createdAt: str
    description: str
    id: str
    name: str
    title: str
    tools: list[SetTool]
    updatedAt: str
    updatedBy: str


class Unresolved(TypedDict):
    code: str
    detail: str


class Validation(TypedDict):
    input: str
    output: str


class Verdict(TypedDict):
    capabilityChanges: list[CapabilityChange]
    findings: list[Finding]
    missingFlags: NotRequired[list[str]]
    moreFindings: NotRequired[int]
    policyVersion: str
    rulePack: str
    score: float
    verdict: Literal["APPROVE", "WARN", "ESCALATE", "BLOCK"]
