// The output of a run as a virtual list: a fixed row height, and only the rows in sight exist.
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { plural } from '../app/format';
import { Button } from '../ui/Button';
import { Empty } from '../ui/Empty';
import css from './Console.module.css';
import { ConsoleRow } from './ConsoleRow';
import { ConsoleTools } from './ConsoleTools';
import { lineText, type Line, type Ring, type Stream } from './ring';

const rowHeight = 18;
const spare = 8;

export type Filter = 'all' | 'stdout' | 'stderr' | 'log';

interface Props {
  ring: Ring;
  /** Rises when the ring changes. */
  changes: number;
  running: boolean;
  onClear: () => void;
}

export function Console({ ring, changes, running, onClear }: Props) {
  const scroll = useRef<HTMLDivElement>(null);
  const [filter, setFilter] = useState<Filter>('all');
  const [search, setSearch] = useState('');
  const [hit, setHit] = useState(0);
  const [box, setBox] = useState({ top: 0, height: 400 });
  const [follows, setFollows] = useState(true);
  const [seen, setSeen] = useState(0);

  const indexes = useMemo(() => filtered(ring, filter), [ring, filter, changes]); // eslint-disable-line react-hooks/exhaustive-deps -- changes says when the ring did
  const count = indexes?.length ?? ring.length;
  const lineAt = useCallback(
    (row: number): Line | undefined => ring.at(indexes ? (indexes[row] ?? -1) : row),
    [ring, indexes],
  );
  const hits = useMemo(() => found(lineAt, count, search), [lineAt, count, search, changes]); // eslint-disable-line react-hooks/exhaustive-deps -- as above
  const hitRow = hits[Math.min(hit, hits.length - 1)];

  const total = ring.length + ring.dropped;
  if (follows && seen !== total) setSeen(total);

  useEffect(() => {
    const element = scroll.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setBox((b) => ({ ...b, height: element.clientHeight })));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  // Sticks to the end unless someone scrolled up to read.
  useLayoutEffect(() => {
    if (follows && scroll.current) scroll.current.scrollTop = count * rowHeight;
  }, [follows, count, changes, box.height]);

  const onScroll = (): void => {
    const element = scroll.current;
    if (!element) return;
    setBox({ top: element.scrollTop, height: element.clientHeight });
    setFollows(element.scrollTop + element.clientHeight >= element.scrollHeight - rowHeight);
  };

  const goToHit = (to: number): void => {
    if (hits.length === 0) return;
    const index = (to + hits.length) % hits.length;
    setHit(index);
    const row = hits[index];
    if (row !== undefined && scroll.current) scroll.current.scrollTop = Math.max(0, row * rowHeight - box.height / 2);
  };

  // Typing goes to the first match; what arrives later does not move the reader.
  const searched = useRef('');
  useEffect(() => {
    if (searched.current === search) return;
    searched.current = search;
    const row = hits[0];
    if (row !== undefined && scroll.current) scroll.current.scrollTop = Math.max(0, row * rowHeight - box.height / 2);
  }, [search, hits, box.height]);

  const first = Math.max(0, Math.floor(box.top / rowHeight) - spare);
  const last = Math.min(count, Math.ceil((box.top + box.height) / rowHeight) + spare);
  const marked = search === '' ? undefined : new Set(hits);
  const rows = [];
  for (let row = first; row < last; row++) {
    const line = lineAt(row);
    if (!line) continue;
    const look = row === hitRow ? 'hit' : marked?.has(row) ? 'match' : 'plain';
    rows.push(
      <ConsoleRow key={line.number} line={line} text={line.text} position={row + 1} size={count} look={look} />,
    );
  }

  return (
    <div className={css.console}>
      <ConsoleTools
        ring={ring}
        search={search}
        filter={filter}
        hits={{ at: hits.length === 0 ? 0 : Math.min(hit, hits.length - 1) + 1, of: hits.length }}
        onSearch={(text) => {
          setSearch(text);
          setHit(0);
        }}
        onFilter={setFilter}
        onStep={(by) => goToHit(hit + by)}
        onClear={onClear}
      />
      {count === 0 ? (
        <Empty>
          {running ? 'Waiting for output.' : 'What the program prints and logs is shown here, line by line.'}
        </Empty>
      ) : null}
      <div
        ref={scroll}
        className={css.scroll}
        hidden={count === 0}
        tabIndex={0}
        aria-label="Program output"
        role="group"
        onScroll={onScroll}
      >
        <div className={css.space} style={{ height: count * rowHeight }}>
          <div role="list" className={css.rows} style={{ transform: `translateY(${first * rowHeight}px)` }}>
            {rows}
          </div>
        </div>
      </div>
      {!follows && total > seen && (
        <Button className={css.follow} onClick={() => setFollows(true)}>
          {plural(total - seen, 'new line')} ↓
        </Button>
      )}
      <Summary total={total} last={ring.at(ring.length - 1)} />
    </div>
  );
}

const streams: Record<Exclude<Filter, 'all'>, Stream[]> = {
  stdout: ['stdout'],
  stderr: ['stderr'],
  log: ['log', 'progress'],
};

function filtered(ring: Ring, filter: Filter): number[] | undefined {
  if (filter === 'all') return undefined;
  const wanted = streams[filter];
  const rows: number[] = [];
  for (let i = 0; i < ring.length; i++) {
    const line = ring.at(i);
    if (line && wanted.includes(line.stream)) rows.push(i);
  }
  return rows;
}

function found(lineAt: (row: number) => Line | undefined, count: number, search: string): number[] {
  if (search === '') return [];
  const wanted = search.toLowerCase();
  const rows: number[] = [];
  for (let row = 0; row < count; row++) {
    const line = lineAt(row);
    if (line && lineText(line).toLowerCase().includes(wanted)) rows.push(row);
  }
  return rows;
}

/** For screen readers: how much is new and the last line, at most every two seconds. */
function Summary({ total, last }: { total: number; last: Line | undefined }) {
  const [said, setSaid] = useState({ total: 0, text: '' });
  const latest = useRef({ total, last });
  useEffect(() => {
    latest.current = { total, last };
  });
  useEffect(() => {
    const timer = setInterval(() => {
      const { total: now, last: line } = latest.current;
      setSaid((before) => {
        if (before.total === now || !line) return before;
        return {
          total: now,
          text: `${plural(Math.max(0, now - before.total), 'new line')}, last: ${lineText(line).slice(0, 200)}`,
        };
      });
    }, 2000);
    return () => clearInterval(timer);
  }, []);
  return (
    <div role="log" aria-label="Console" className="visually-hidden">
      {said.text}
    </div>
  );
}
