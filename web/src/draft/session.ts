// Manages an open draft: its edits and its saved state. It saves after a pause in typing. A save contains the revision
// on which the edits are based, and never overwrites another person's save.
import { ApiError, explain } from '../api/http';
import type { About, Agent, Draft, FieldProblem, FileContent, JsonSchema, SchemaSource } from '../api/types';

export type SaveState =
  | { kind: 'saved' }
  | { kind: 'dirty' }
  | { kind: 'saving' }
  | { kind: 'offline' }
  | { kind: 'refused'; message: string; fields: FieldProblem[] }
  /** Another revision was saved. `base` is the common base of both sides, if it is known. */
  | { kind: 'conflict'; theirs: Agent; base: Content | undefined };

export interface Content {
  about: About;
  draft: Draft;
}

export interface SessionView extends Content {
  id: string;
  latestVersion: string;
  save: SaveState;
}

/** The dependencies of a session: the server, the persistent storage and the clock. */
export interface SessionEnvironment {
  save(id: string, content: Content): Promise<Agent>;
  load(id: string): Promise<Agent>;
  /** Loads the draft of an earlier revision. */
  loadSave(id: string, revision: number): Promise<Draft>;
  /** Tells the user that another person's draft has replaced the shown draft. */
  replaced(theirs: Agent): void;
  keep(id: string, content: Content): void;
  forget(id: string): void;
  later(run: () => void, ms: number): () => void;
  /** Tells other tabs about saves, and receives their saves. */
  tell(id: string, revision: number): void;
  listen(id: string, heard: (revision: number) => void): () => void;
}

// This object stays the same while the user types, so that no component renders again.
const dirty: SaveState = { kind: 'dirty' };
const saving: SaveState = { kind: 'saving' };

const saveDelay = 600;
const retryDelay = 3000;

export class DraftSession {
  private view: SessionView;
  private readonly listeners = new Set<() => void>();
  private cancelTimer = (): void => undefined;
  private readonly unlisten: () => void;
  private inFlight: Promise<void> | undefined;
  private edits = 0;
  private before: Content | undefined;
  /** The content of the revision on which the edits are based. */
  private base: Content | undefined;

  constructor(
    agent: Agent,
    private readonly world: SessionEnvironment,
    kept?: Content,
  ) {
    this.view = { ...viewOf(agent), save: { kind: 'saved' } };
    this.base = contentOf(agent);
    if (kept) this.restore(agent, kept);
    this.unlisten = world.listen(agent.id, (revision) => void this.heard(revision));
  }

  get = (): SessionView => this.view;

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  editDraft(change: Partial<Draft>): void {
    this.edited({ draft: { ...this.view.draft, ...change } });
  }

  /** Changes a schema and stores how the schema was made. Without a source, a person wrote it. */
  editSchema(which: 'input' | 'output', schema: JsonSchema, source?: SchemaSource): void {
    const { schemaSources: sources, ...draft } = this.view.draft;
    const { [which]: _, ...others } = sources ?? {};
    const kept = source ? { ...others, [which]: source } : others;
    const changed = which === 'input' ? { inputSchema: schema } : { outputSchema: schema };
    this.edited({ draft: { ...draft, ...changed, ...(Object.keys(kept).length > 0 && { schemaSources: kept }) } });
  }

  editAbout(change: Partial<About>): void {
    this.edited({ about: { ...this.view.about, ...change } });
  }

  setFile(path: string, content: FileContent): void {
    if (this.view.draft.files[path] === content) return;
    this.editDraft({ files: { ...this.view.draft.files, [path]: content } });
  }

  /** Saves immediately. Resolves to true when the server has stored all edits. Otherwise `save` contains the reason. */
  async flush(): Promise<boolean> {
    this.cancelTimer();
    while (this.needsSaving()) {
      await (this.inFlight ?? this.start());
      if (!['saved', 'dirty', 'saving'].includes(this.view.save.kind)) return false;
    }
    return this.view.save.kind === 'saved';
  }

  /** Stores the new latest version after publishing, because publishing does not change the draft. */
  published(version: string): void {
    this.update({ latestVersion: version });
  }

  keepMine(): void {
    const { save, draft } = this.view;
    if (save.kind !== 'conflict') return;
    this.edited({ draft: { ...draft, revision: save.theirs.draft.revision } }, 0);
  }

  /** Ends a conflict with a merge of both sides. */
  takeMerged({ about, draft }: Content): void {
    const { save } = this.view;
    if (save.kind !== 'conflict') return;
    this.edited({ about, draft: { ...draft, revision: save.theirs.draft.revision } }, 0);
  }

  /** Ends a conflict with the other person's draft. The returned function restores the edits that were made here. */
  takeTheirs(): () => void {
    const { save, about, draft } = this.view;
    if (save.kind !== 'conflict') return () => undefined;
    this.world.forget(this.view.id);
    this.base = contentOf(save.theirs);
    this.update({ ...viewOf(save.theirs), save: { kind: 'saved' } });
    return () => this.edited({ about, draft: { ...draft, revision: this.view.draft.revision } }, 0);
  }

  /**
   * Performs an action on the draft that the user sees. If another revision was saved, the session shows the conflict
   * and the action fails.
   */
  async withRevision<T>(work: (revision: number) => Promise<T>): Promise<T> {
    try {
      return await work(this.view.draft.revision);
    } catch (error) {
      if (isStale(error)) await this.meet();
      throw error;
    }
  }

  /** Handles the message that a revision was saved. This session may have saved it. */
  told(revision: number): Promise<void> {
    return this.heard(revision, true);
  }

  /** Asks the server whether another person saved the draft, for example after the page was hidden. */
  async check(): Promise<void> {
    try {
      const theirs = await this.world.load(this.view.id);
      if (theirs.draft.revision > this.view.draft.revision) await this.heard(theirs.draft.revision, true);
    } catch {
      // An error does not matter, because the next save detects the other revision.
    }
  }

  /** Whether the session started with edits that the server had not stored. */
  get restored(): boolean {
    return this.before !== undefined;
  }

  /** Discards the restored edits and shows the server's draft. */
  dropRestored(): void {
    const { before } = this;
    if (!before) return;
    this.before = undefined;
    this.edited({ about: before.about, draft: { ...before.draft, revision: this.view.draft.revision } });
  }

  dispose(): void {
    this.cancelTimer();
    this.unlisten();
    this.listeners.clear();
  }

  private restore(agent: Agent, kept: Content): void {
    if (sameContent(kept, contentOf(agent))) return this.world.forget(agent.id);
    const stale = kept.draft.revision !== agent.draft.revision;
    this.view = { ...this.view, ...kept, save: stale ? { kind: 'conflict', theirs: agent, base: undefined } : dirty };
    if (stale) {
      this.base = undefined;
      void this.findBase(kept, agent);
      return;
    }
    this.before = contentOf(agent);
    this.schedule(0);
  }

  private clean(): boolean {
    return this.view.save.kind === 'saved';
  }

  private needsSaving(): boolean {
    const { kind } = this.view.save;
    return kind === 'dirty' || kind === 'saving' || kind === 'offline' || kind === 'refused';
  }

  private edited(change: Partial<Content>, delay = saveDelay): void {
    this.edits++;
    const content = { about: change.about ?? this.view.about, draft: change.draft ?? this.view.draft };
    const unresolved = this.view.save.kind === 'conflict' && delay > 0;
    this.world.keep(this.view.id, content);
    this.update(unresolved ? content : { ...content, save: this.inFlight ? saving : dirty });
    if (!unresolved) this.schedule(delay);
  }

  private schedule(delay: number): void {
    this.cancelTimer();
    this.cancelTimer = this.world.later(() => void (this.inFlight ?? this.start()), delay);
  }

  private start(): Promise<void> {
    this.inFlight = this.saveOnce().finally(() => {
      this.inFlight = undefined;
      if (this.view.save.kind === 'dirty') this.schedule(saveDelay);
    });
    return this.inFlight;
  }

  private async saveOnce(): Promise<void> {
    const edits = this.edits;
    const sent = { about: this.view.about, draft: this.view.draft };
    this.update({ save: saving });
    try {
      const agent = await this.world.save(this.view.id, sent);
      this.base = sent;
      this.accept(agent, edits);
    } catch (error) {
      await this.fail(error);
    }
  }

  private accept(agent: Agent, edits: number): void {
    const revision = agent.draft.revision;
    const { latestVersion } = agent;
    this.world.tell(this.view.id, revision);
    // Another person may have renamed the agent.
    const about = { ...this.view.about, name: agent.name };
    if (edits === this.edits) {
      this.world.forget(this.view.id);
      // The server may add defaults. The screen still shows the values that were sent.
      this.update({ latestVersion, about, draft: { ...this.view.draft, revision }, save: { kind: 'saved' } });
      return;
    }
    const draft = { ...this.view.draft, revision };
    this.world.keep(this.view.id, { about, draft });
    this.update({ latestVersion, about, draft, save: dirty });
  }

  private async fail(error: unknown): Promise<void> {
    if (isStale(error)) return this.meet();
    if (error instanceof ApiError && error.status < 500 && error.status !== 401 && error.status !== 429) {
      this.update({ save: { kind: 'refused', message: explain(error), fields: error.fields } });
      return;
    }
    this.update({ save: { kind: 'offline' } });
    this.schedule(retryDelay);
  }

  /**
   * Handles another revision that was saved. A draft without edits loads the new state. A draft with edits is compared
   * with the new state first.
   */
  private async heard(revision: number, tell = false): Promise<void> {
    await this.inFlight; // if the running save succeeds, it returns the new revision
    if (revision <= this.view.draft.revision) return;
    if (!this.clean()) {
      this.cancelTimer();
      return this.meet();
    }
    try {
      const theirs = await this.world.load(this.view.id);
      if (theirs.draft.revision <= this.view.draft.revision) return;
      if (!this.clean()) return await this.heard(revision, tell);
      this.base = contentOf(theirs);
      this.update(viewOf(theirs));
      if (tell) this.world.replaced(theirs);
    } catch {
      // An error does not matter, because the next save detects the other revision.
    }
  }

  /** Another person has saved. The session loads that draft, so that the user can choose between the two drafts. */
  private async meet(): Promise<void> {
    try {
      const theirs = await this.world.load(this.view.id);
      if (sameContent(this.view, contentOf(theirs))) {
        this.world.forget(this.view.id);
        this.update({ ...viewOf(theirs), save: { kind: 'saved' } });
      } else {
        this.cancelTimer();
        this.update({ save: { kind: 'conflict', theirs, base: this.base } });
      }
    } catch (error) {
      await this.fail(error);
    }
  }

  /** Loads the draft on which restored edits were based. The page does not have it after a reload. */
  private async findBase(kept: Content, theirs: Agent): Promise<void> {
    try {
      const draft = await this.world.loadSave(theirs.id, kept.draft.revision);
      this.base = { about: kept.about, draft };
      if (this.view.save.kind === 'conflict') this.update({ save: { ...this.view.save, base: this.base } });
    } catch {
      // Without the base, both sides cannot be merged by lines, but the user can still compare them.
    }
  }

  private update(change: Partial<SessionView>): void {
    this.view = { ...this.view, ...change };
    for (const listener of [...this.listeners]) listener();
  }
}

/** Whether a request was rejected because another revision of the draft was saved. */
export const isStale = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 409 && error.code === 'stale_draft';

export function contentOf(agent: Agent): Content {
  const { name, title, description, tags, metadata } = agent;
  return { about: { name, title, description, tags, metadata }, draft: agent.draft };
}

function viewOf(agent: Agent): Omit<SessionView, 'save'> {
  return { id: agent.id, latestVersion: agent.latestVersion, ...contentOf(agent) };
}

function sameContent(a: Content, b: Content): boolean {
  const essence = ({ about, draft: { revision: _revision, savedAt: _at, savedBy: _by, ...draft } }: Content): string =>
    JSON.stringify([about, draft]);
  return essence(a) === essence(b);
}
