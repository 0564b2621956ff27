import { describe, expect, it } from 'vitest';
import { ApiError, OfflineError } from '../api/http';
import type { Agent, Draft } from '../api/types';
import { DraftSession, type Content, type SessionEnvironment } from './session';

const draft: Draft = {
  revision: 1,
  language: 'typescript',
  runtime: 'auto',
  files: { 'main.ts': 'one' },
  entrypoint: 'main.ts',
  inputSchema: {},
  outputSchema: {},
  packages: [],
  environment: {},
  secrets: [],
  capabilities: { hostFunctions: [], hosts: [], subprocess: false },
  limits: { timeoutMs: 1, cpuMs: 1, memoryBytes: 1, processes: 1, outputBytes: 1, diskBytes: 1, recursionDepth: 1 },
  safetyFlags: [],
  requiresApproval: false,
  deterministic: false,
};
const agent = (change: Partial<Draft> = {}): Agent => ({
  id: 'a1',
  name: 'weather',
  title: 'Weather',
  description: '',
  tags: [],
  metadata: {},
  listed: false,
  latestVersion: '',
  usageCount: 0,
  changelog: [],
  draft: { ...draft, ...change },
  createdAt: '',
  updatedAt: '',
});

/** A fake server with one draft that can go offline. */
function world(server: Agent) {
  const state = {
    server,
    offline: false,
    saves: 0,
    kept: new Map<string, Content>(),
    timers: new Set<() => void>(),
    told: [] as number[],
    replaced: [] as number[],
    tabs: new Set<(revision: number) => void>(),
  };
  const it: SessionEnvironment = {
    save(_id, content) {
      state.saves++;
      if (state.offline) return Promise.reject(new OfflineError());
      if (content.draft.revision !== state.server.draft.revision)
        return Promise.reject(new ApiError(409, 'stale_draft', 'Stale.', [], {}, undefined));
      if (content.draft.entrypoint === '')
        return Promise.reject(
          new ApiError(422, 'invalid_input', 'Bad.', [{ pointer: '/entrypoint', message: 'x' }], {}, undefined),
        );
      state.server = {
        ...state.server,
        ...content.about,
        draft: { ...content.draft, revision: content.draft.revision + 1 },
      };
      return Promise.resolve(state.server);
    },
    load: () => Promise.resolve(state.server),
    loadSave: () => Promise.reject(new Error('no history')),
    replaced: ({ draft }) => void state.replaced.push(draft.revision),
    keep: (id, content) => state.kept.set(id, content),
    forget: (id) => state.kept.delete(id),
    later(run) {
      state.timers.add(run);
      return () => state.timers.delete(run);
    },
    tell: (_id, revision) => void state.told.push(revision),
    listen(_id, heard) {
      state.tabs.add(heard);
      return () => state.tabs.delete(heard);
    },
  };
  /** Another tab saves and notifies this one. */
  const elsewhere = async (change: Partial<Draft>): Promise<void> => {
    const revision = state.server.draft.revision + 1;
    state.server = { ...state.server, draft: { ...state.server.draft, ...change, revision } };
    for (const heard of state.tabs) heard(revision);
    for (let i = 0; i < 10; i++) await Promise.resolve();
  };
  const tick = async (): Promise<void> => {
    const due = [...state.timers];
    state.timers.clear();
    for (const run of due) run();
    for (let i = 0; i < 10; i++) await Promise.resolve();
  };
  return { state, it, tick, elsewhere };
}

describe('two people', () => {
  const others = (w: ReturnType<typeof world>, change: Partial<Draft>): void => {
    const { server } = w.state;
    w.state.server = { ...server, draft: { ...server.draft, ...change, revision: server.draft.revision + 1 } };
  };
  const stale = new ApiError(409, 'stale_draft', 'Stale.', [], {}, undefined);

  it('are compared when one uses a draft that the other replaced, with the base of both', async () => {
    const w = world(agent());
    const session = new DraftSession(w.state.server, w.it);
    others(w, { files: { 'main.ts': 'theirs' } });
    await expect(session.withRevision(() => Promise.reject(stale))).rejects.toBe(stale);
    expect(session.get().save).toMatchObject({ kind: 'conflict', base: { draft: { files: { 'main.ts': 'one' } } } });
  });

  it('see what the other saved when they come back', async () => {
    const w = world(agent());
    const session = new DraftSession(w.state.server, w.it);
    others(w, { files: { 'main.ts': 'theirs' } });
    await session.check();
    expect(session.get().draft.files).toEqual({ 'main.ts': 'theirs' });
    expect(w.state.replaced).toEqual([2]);
  });

  it('get their edits back after they took those of the other', async () => {
    const w = world(agent());
    const session = new DraftSession(w.state.server, w.it);
    others(w, { files: { 'main.ts': 'theirs' } });
    session.setFile('main.ts', 'mine');
    await session.flush();
    const undo = session.takeTheirs();
    expect(session.get().draft.files).toEqual({ 'main.ts': 'theirs' });
    undo();
    await session.flush();
    expect(w.state.server.draft.files).toEqual({ 'main.ts': 'mine' });
  });
});

describe('two tabs', () => {
  it('a draft without edits follows what another tab saved, and tells what it saves', async () => {
    const w = world(agent());
    const session = new DraftSession(agent(), w.it);
    await w.elsewhere({ files: { 'main.ts': 'theirs' } });
    expect(session.get().draft).toMatchObject({ revision: 2, files: { 'main.ts': 'theirs' } });
    session.setFile('main.ts', 'mine');
    await w.tick();
    expect([session.get().save.kind, w.state.told]).toEqual(['saved', [3]]);
    session.dispose();
    expect(w.state.tabs.size).toBe(0);
  });

  it('edits are compared with what another tab saved before they are sent', async () => {
    const w = world(agent());
    const session = new DraftSession(agent(), w.it);
    session.setFile('main.ts', 'mine');
    await w.elsewhere({ files: { 'main.ts': 'theirs' } });
    await w.tick();
    expect([session.get().save.kind, session.get().draft.files, w.state.saves]).toEqual([
      'conflict',
      { 'main.ts': 'mine' },
      0,
    ]);
  });

  it('a save of another tab is noticed while a failing save of this one is in progress', async () => {
    const w = world(agent());
    const session = new DraftSession(agent(), w.it);
    session.setFile('main.ts', 'mine');
    w.state.offline = true;
    for (const save of w.state.timers) save();
    expect(session.get().save.kind).toBe('saving');
    await w.elsewhere({ files: { 'main.ts': 'theirs' } });
    expect(session.get().save).toMatchObject({ kind: 'conflict', theirs: { draft: { revision: 2 } } });
  });

  it('edits are compared later when the server is busy now', async () => {
    const w = world(agent());
    const session = new DraftSession(agent(), w.it);
    session.setFile('main.ts', 'mine');
    w.it.load = () => Promise.reject(new ApiError(503, 'unavailable', 'Busy.', [], {}, undefined));
    await w.elsewhere({ files: { 'main.ts': 'theirs' } });
    expect([session.get().save.kind, w.state.timers.size]).toEqual(['offline', 1]);
    w.it.load = () => Promise.resolve(w.state.server);
    await w.tick();
    expect(session.get().save).toMatchObject({ kind: 'conflict', theirs: { draft: { revision: 2 } } });
  });

  it('notifications with an older revision are ignored', async () => {
    const w = world(agent({ revision: 5 }));
    const session = new DraftSession(agent({ revision: 5 }), w.it);
    for (const heard of w.state.tabs) heard(5);
    await w.tick();
    expect(session.get().draft.revision).toBe(5);
  });
});

describe('DraftSession', () => {
  it('saves many edits once and ends with the new revision', async () => {
    const w = world(agent());
    const session = new DraftSession(agent(), w.it);
    session.setFile('main.ts', 'two');
    session.setFile('main.ts', 'three');
    expect(session.get().save.kind).toBe('dirty');
    expect(w.state.kept.size).toBe(1);
    await w.tick();
    expect(session.get().save.kind).toBe('saved');
    expect(session.get().draft.revision).toBe(2);
    expect([w.state.saves, w.state.kept.size, w.state.server.draft.files['main.ts']]).toEqual([1, 0, 'three']);
  });

  it('saves again what was typed while it was saving', async () => {
    const w = world(agent());
    const session = new DraftSession(agent(), w.it);
    session.setFile('main.ts', 'two');
    const flushed = session.flush();
    session.setFile('main.ts', 'three');
    expect(await flushed).toBe(true);
    expect(w.state.server.draft.files['main.ts']).toBe('three');
    expect(session.get().draft.revision).toBe(3);
  });

  it('the view stays the same object while a user types', () => {
    const w = world(agent());
    const session = new DraftSession(agent(), w.it);
    session.setFile('main.ts', 'two');
    for (const save of w.state.timers) save();
    const { save } = session.get();
    session.setFile('main.ts', 'three');
    expect([save.kind, session.get().save === save]).toEqual(['saving', true]);
  });

  it('keeps edits while offline and saves them when the server is back', async () => {
    const w = world(agent());
    const session = new DraftSession(agent(), w.it);
    w.state.offline = true;
    session.setFile('main.ts', 'two');
    await w.tick();
    expect(session.get().save.kind).toBe('offline');
    expect(w.state.kept.size).toBe(1);
    w.state.offline = false;
    await w.tick();
    expect(session.get().save.kind).toBe('saved');
    expect(w.state.server.draft.files['main.ts']).toBe('two');
  });

  it('a conflict asks the user, and my draft wins only if chosen', async () => {
    const w = world(agent({ revision: 5, files: { 'main.ts': 'theirs' } }));
    const session = new DraftSession(agent(), w.it);
    session.setFile('main.ts', 'mine');
    await w.tick();
    expect(session.get().save.kind).toBe('conflict');
    expect(w.state.server.draft.files['main.ts']).toBe('theirs');
    session.setFile('main.ts', 'mine, more');
    await w.tick();
    expect(session.get().save.kind).toBe('conflict');
    session.keepMine();
    await w.tick();
    expect(w.state.server.draft.files['main.ts']).toBe('mine, more');
    expect(session.get().save.kind).toBe('saved');
  });

  it('takes their draft if chosen', async () => {
    const w = world(agent({ revision: 5, files: { 'main.ts': 'theirs' } }));
    const session = new DraftSession(agent(), w.it);
    session.setFile('main.ts', 'mine');
    await w.tick();
    session.takeTheirs();
    expect(session.get().draft).toMatchObject({ revision: 5, files: { 'main.ts': 'theirs' } });
    expect(w.state.kept.size).toBe(0);
  });

  it('says what the server refused, and tries again after the next edit', async () => {
    const w = world(agent());
    const session = new DraftSession(agent(), w.it);
    session.editDraft({ entrypoint: '' });
    expect(await session.flush()).toBe(false);
    expect(session.get().save).toMatchObject({ kind: 'refused', fields: [{ pointer: '/entrypoint' }] });
    session.editDraft({ entrypoint: 'main.ts' });
    expect(await session.flush()).toBe(true);
  });

  it('discards restored edits on request, also after they were saved', async () => {
    const w = world(agent());
    const kept: Content = { about: agent(), draft: { ...draft, files: { 'main.ts': 'crashed' } } };
    const session = new DraftSession(w.state.server, w.it, kept);
    expect(session.restored).toBe(true);
    await session.flush();
    expect(w.state.server.draft.files).toEqual({ 'main.ts': 'crashed' });
    session.dropRestored();
    await session.flush();
    expect(w.state.server.draft.files).toEqual({ 'main.ts': 'one' });
    expect(session.restored).toBe(false);
  });

  it('offers back what a crash left, and asks when the server moved on', async () => {
    const mine = { about: agent(), draft: { ...draft, files: { 'main.ts': 'mine' } } };
    const w = world(agent());
    const session = new DraftSession(agent(), w.it, mine);
    expect(session.get().save.kind).toBe('dirty');
    await w.tick();
    expect(w.state.server.draft.files['main.ts']).toBe('mine');
    const moved = new DraftSession(agent({ revision: 9 }), w.it, mine);
    expect(moved.get().save.kind).toBe('conflict');
  });
});
