import { useEffect, useLayoutEffect, useState, type CSSProperties } from 'react';
import { setLayout, type Pane } from '../state/layout';
import { leaveTour, moveTour, steps, useTour, type Step } from '../state/tour';
import { tour as say } from '../texts/app';
import { Button } from '../ui/Button';
import css from './Tour.module.css';

/** The part of the screen that a step explains, and the pane in which a phone shows it. */
const places: Record<Step, { part: string; pane: Pane }> = {
  code: { part: 'code', pane: 'code' },
  config: { part: 'config', pane: 'config' },
  run: { part: 'output', pane: 'output' },
  history: { part: 'output', pane: 'output' },
  publish: { part: 'header', pane: 'code' },
};

const width = 340;
const height = 190;
const margin = 12;

/** Explains the workbench in five steps. The user can use the workbench during the tour. */
export function Tour() {
  const at = useTour(({ step }) => step);
  const step = at === undefined ? undefined : steps[at];
  return step === undefined || at === undefined ? null : <Card step={step} at={at} />;
}

function Card({ step, at }: { step: Step; at: number }) {
  const { part, pane } = places[step];
  const [box, setBox] = useState<DOMRect>();
  useEffect(() => {
    setLayout({ pane, ...(pane === 'output' && { bottomOpen: true }), ...(pane === 'config' && { rightOpen: true }) });
  }, [pane]);
  useLayoutEffect(() => {
    const place = (): void => setBox(document.querySelector(`[data-tour='${part}']`)?.getBoundingClientRect());
    const frame = requestAnimationFrame(place); // the position is known after the layout of the step
    addEventListener('resize', place);
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener('resize', place);
    };
  }, [part]);
  // On a phone, a closed sheet has no position.
  const shown = box && box.width > 0 ? box : undefined;
  return (
    <>
      {shown && <div className={css.frame} style={frameOf(shown)} aria-hidden />}
      <section
        className={css.card}
        style={cardOf(shown)}
        aria-label={say.title}
        onKeyDown={(e) => e.key === 'Escape' && leaveTour()}
      >
        <div role="status" className={css.text}>
          <h2>{say.steps[step].title}</h2>
          <p>{say.steps[step].text}</p>
        </div>
        <div className={css.foot}>
          <Button look="quiet" onClick={leaveTour}>
            {say.leave}
          </Button>
          <span className={css.count}>{say.count(at + 1, steps.length)}</span>
          {at > 0 && <Button onClick={() => moveTour(-1)}>{say.back}</Button>}
          <Button look="primary" onClick={() => moveTour(1)}>
            {at === steps.length - 1 ? say.done : say.next}
          </Button>
        </div>
      </section>
    </>
  );
}

const frameOf = ({ left, top, width: w, height: h }: DOMRect): CSSProperties => ({ left, top, width: w, height: h });

/** The card is at the lower right corner of the element that it explains. It stays inside the window. */
function cardOf(box: DOMRect | undefined): CSSProperties {
  const [wide, high] = [window.innerWidth, window.innerHeight];
  const own = Math.min(width, wide - 2 * margin);
  const right = box ? box.right : wide;
  const bottom = box ? box.bottom : high;
  const clamp = (at: number, most: number): number => Math.min(Math.max(margin, at), most - margin);
  return {
    width: own,
    left: clamp(right - own - margin, wide - own),
    top: clamp(bottom < height ? bottom + margin : bottom - height - margin, high - height),
  };
}
