// Shows the output of a run as a virtual list. All rows have the same height, and a wrapped line takes several rows.
// Only visible lines are elements of the page.
import { useEffect, useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { useCommand } from '../state/commands';
import { useEditorSettings } from '../editor/settings';
import { output as say } from '../texts/console';
import { Button } from '../ui/Button';
import { classes } from '../ui/classes';
import { Empty } from '../ui/Empty';
import css from './Console.module.css';
import { ConsoleRow, mostShown } from './ConsoleRow';
import { ConsoleTools } from './ConsoleTools';
import type { Line } from './lines';
import { lineText, ringCapacity, type Ring } from './ring';
import { unwrapped, Wrapping, type Shown } from './rows';
import { Selection, type Filter } from './selection';

const rowHeight = 18;
const spare = 8;
// The width in characters that a line needs in addition to its text, for its number and a margin.
const otherWidth = 64 + 12;
const timeWidth = 104;
const probe = '0'.repeat(100);

// The time in milliseconds that the search may use per frame.
const lookBudget = 6;

interface Props {
  ring: Ring;
  running: boolean;
  onClear: () => void;
}

export function Console({ ring, running, onClear }: Props) {
  const scroll = useRef<HTMLDivElement>(null);
  const [filter, setFilter] = useState<Filter>('all');
  const [search, setSearch] = useState('');
  const [hit, setHit] = useState(0);
  const wrap = useEditorSettings((settings) => settings.wrapOutput);
  const times = useEditorSettings((settings) => settings.outputTimes);
  const list = useRef<HTMLDivElement>(null);
  const ruler = useRef<HTMLSpanElement>(null);
  const [box, setBox] = useState({ top: 0, height: 400, columns: 80 });
  const [follows, setFollows] = useState(true);
  const [seen, setSeen] = useState(0);

  const changes = useSyncExternalStore(ring.subscribe, ring.getChanges);
  const { clears } = ring;
  const selection = useMemo(() => new Selection(ring, filter, search), [ring, filter, search, clears]); // eslint-disable-line react-hooks/exhaustive-deps -- cleared, it begins anew
  const looked = useLooking(selection, changes);
  const { count, hits } = selection;
  const shown = useMemo(
    (): Shown => ({
      numberAt: (index) => selection.numberAt(index),
      lengthAt: (index) => ring.lengthOf(selection.numberAt(index)),
      lineAt: (index) => ring.numbered(selection.numberAt(index)),
    }),
    [ring, selection],
  );
  const hitNumber = hits[Math.min(hit, hits.length - 1)];

  const [wrapping] = useState(() => new Wrapping(ringCapacity, mostShown));
  const [corrections, setCorrections] = useState(0);
  const rows = useMemo(
    () => (wrap ? wrapping.arrange(count, shown, box.columns) : unwrapped(count)),
    [wrap, wrapping, count, shown, box.columns, changes, corrections], // eslint-disable-line react-hooks/exhaustive-deps -- as above, and corrections says when a line was measured
  );
  const toggleWrap = (): void => {
    useEditorSettings.setState({ wrapOutput: !wrap });
  };
  useCommand('view.wrap', toggleWrap);

  // The scroll position belongs to one run. For the next run, the console shows the end of the output.
  const [shownSince, setShownSince] = useState(clears);
  if (shownSince !== clears) {
    setShownSince(clears);
    setFollows(true);
    setHit(0);
  }
  const total = ring.length + ring.dropped;
  if (follows && seen !== total) setSeen(total);

  useEffect(() => {
    const [element, measure] = [scroll.current, ruler.current];
    if (!element || !measure) return;
    const look = (): void => {
      const cell = measure.getBoundingClientRect().width / probe.length;
      const columns =
        cell > 0 ? Math.max(10, Math.floor((element.clientWidth - otherWidth - (times ? timeWidth : 0)) / cell)) : 80;
      setBox((b) => ({ ...b, height: element.clientHeight, columns }));
    };
    const observer = new ResizeObserver(look);
    observer.observe(element);
    observer.observe(measure); // the width of a character changes when the font is loaded
    return () => observer.disconnect();
  }, [times]);

  // When lines above the view change their height, the view stays at the same line.
  const reading = useRef(0);
  useLayoutEffect(() => {
    if (scroll.current) scroll.current.scrollTop = rows.before(reading.current) * rowHeight;
  }, [wrap, box.columns]); // eslint-disable-line react-hooks/exhaustive-deps -- other changes move nobody

  // The console shows the end of the output until the user scrolls up.
  useLayoutEffect(() => {
    if (follows && scroll.current) scroll.current.scrollTop = rows.total * rowHeight;
  }, [follows, rows, box.height]);

  const onScroll = (): void => {
    const element = scroll.current;
    if (!element) return;
    reading.current = rows.at(Math.floor(element.scrollTop / rowHeight));
    const atEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - rowHeight;
    setFollows(atEnd);
    // If the console follows the output, it scrolls to the end after every change.
    if (!atEnd || !follows) setBox((b) => ({ ...b, top: element.scrollTop, height: element.clientHeight }));
  };

  const showLine = (number: number | undefined): void => {
    if (number === undefined || !scroll.current) return;
    scroll.current.scrollTop = Math.max(0, rows.before(selection.indexOf(number)) * rowHeight - box.height / 2);
  };

  const goToHit = (to: number): void => {
    if (hits.length === 0) return;
    const index = (to + hits.length) % hits.length;
    setHit(index);
    showLine(hits[index]);
  };

  // While the user types a search, the console jumps to the first match. Later matches do not move the view.
  const searched = useRef('');
  useEffect(() => {
    if (searched.current === search || (hits.length === 0 && !looked)) return;
    searched.current = search;
    showLine(hits[0]);
  });

  const top = follows ? Math.max(0, rows.total * rowHeight - box.height) : box.top;
  const first = Math.max(0, rows.at(Math.floor(top / rowHeight)) - spare);
  const last = Math.min(count, rows.at(Math.ceil((top + box.height) / rowHeight)) + 1 + spare);

  useLayoutEffect(() => {
    if (!wrap || !list.current || !scroll.current) return;
    let [all, above] = [0, 0];
    Array.from(list.current.children).forEach((child, i) => {
      const line = shown.lineAt(first + i);
      if (!line || !(child instanceof HTMLElement)) return;
      const more = wrapping.measured(line, Math.round(child.offsetHeight / rowHeight));
      all += Math.abs(more);
      if (first + i < rows.at(Math.floor(top / rowHeight))) above += more;
    });
    if (all === 0) return;
    setCorrections((n) => n + 1);
    if (!follows) scroll.current.scrollTop += above * rowHeight;
  }, [wrap, wrapping, shown, first, rows, follows, top]);

  const drawn = [];
  for (let index = first; index < last; index++) {
    const line = shown.lineAt(index);
    if (!line) continue;
    const look = line.number === hitNumber ? 'hit' : selection.isHit(line.number) ? 'match' : 'plain';
    drawn.push(
      <ConsoleRow
        key={line.number}
        line={line}
        text={line.text}
        position={index + 1}
        size={count}
        look={look}
        time={times}
      />,
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
        wrap={wrap}
        onWrap={toggleWrap}
        times={times}
        onTimes={() => useEditorSettings.setState({ outputTimes: !times })}
        onStep={(by) => goToHit(hit + by)}
        onClear={onClear}
      />
      {count === 0 ? <Empty>{running ? say.waitingForOutput : say.whatIsShownHere}</Empty> : null}
      <div
        ref={scroll}
        className={css.scroll}
        hidden={count === 0}
        tabIndex={0}
        aria-label={say.programOutput}
        role="group"
        onScroll={onScroll}
      >
        <span ref={ruler} className={css.ruler} aria-hidden>
          {probe}
        </span>
        <div className={css.space} style={{ height: rows.total * rowHeight }}>
          <div
            ref={list}
            role="list"
            className={classes(css.rows, wrap && css.wrapped)}
            style={{ transform: `translateY(${rows.before(first) * rowHeight}px)` }}
          >
            {drawn}
          </div>
        </div>
      </div>
      {!follows && total > seen && (
        <Button className={css.follow} onClick={() => setFollows(true)}>
          {say.follow(total - seen)}
        </Button>
      )}
      <Summary total={total} last={ring.at(ring.length - 1)} />
    </div>
  );
}

/** Searches some lines per frame. Returns whether all lines have been searched. */
function useLooking(selection: Selection, changes: number): boolean {
  const [frames, setFrames] = useState(0);
  const looked = useMemo(() => {
    const end = performance.now() + lookBudget;
    return selection.advance(() => performance.now() > end);
  }, [selection, changes, frames]); // eslint-disable-line react-hooks/exhaustive-deps -- changes and frames say when there is more
  useEffect(() => {
    if (looked) return;
    const frame = requestAnimationFrame(() => setFrames((n) => n + 1));
    return () => cancelAnimationFrame(frame);
  }, [looked, frames, changes, selection]);
  return looked;
}

/** Announces the number of new lines and the last line to screen readers, at most every two seconds. */
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
          text: say.said(Math.max(0, now - before.total), lineText(line).slice(0, 200)),
        };
      });
    }, 2000);
    return () => clearInterval(timer);
  }, []);
  return (
    <div role="log" aria-label={say.console} className="visually-hidden">
      {said.text}
    </div>
  );
}
