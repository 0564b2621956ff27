import { useEffect, useRef, useSyncExternalStore } from 'react';
import uPlot, { type AlignedData, type Options, type Series } from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { currentTheme, onTheme } from '../../state/theme';
import { views as say } from '../../texts/run';
import css from './Output.module.css';
import type { Chart } from './views';

const height = 220;
const colours = ['--accent', '--ok', '--warn', '--ansi-magenta', '--ansi-cyan', '--err'];

/** Draws a chart in the colours of the theme. A table contains the same rows as text. */
export function ChartView({ chart, path }: { chart: Chart; path: string }) {
  const place = useRef<HTMLDivElement>(null);
  const theme = useSyncExternalStore(onTheme, currentTheme);
  useEffect(() => {
    const host = place.current;
    if (!host) return;
    const data: AlignedData = [chart.xs, ...chart.series.map(({ values }) => values)];
    const plot = new uPlot(optionsOf(chart, host), data, host);
    const sized = new ResizeObserver(() => plot.setSize({ width: host.clientWidth, height }));
    sized.observe(host);
    return () => {
      sized.disconnect();
      plot.destroy();
    };
  }, [chart, theme]);
  const names = chart.series.map(({ name }) => name);
  return (
    <div
      ref={place}
      className={css.chart}
      role="img"
      aria-label={say.chartOf(path, chart.kind, names, chart.x, chart.xs.length)}
    />
  );
}

function optionsOf(chart: Chart, host: HTMLElement): Options {
  const style = getComputedStyle(host);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour('--fg2'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { stroke: colour('--line'), width: 1 },
  };
  const label = (_: uPlot, splits: number[]): string[] => splits.map((at) => chart.labels[at] ?? '');
  return {
    width: host.clientWidth,
    height,
    scales: {
      x: { time: chart.scale === 'time', ...(chart.kind === 'bar' && { range: wider }) },
      ...(chart.kind === 'bar' && { y: { range: fromZero } }),
    },
    axes: [
      { ...axis, ...(chart.scale === 'label' && { values: label, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] }) },
      axis,
    ],
    series: [
      { label: chart.x, ...(chart.scale === 'label' && { value: (_, at) => chart.labels[at] ?? '' }) },
      ...chart.series.map(({ name }, i) => seriesOf(chart.kind, name, colour(colours[i % colours.length] ?? ''))),
    ],
  };
}

/** The first and the last bar need space beyond their positions. */
const wider = (_: uPlot, min: number, max: number): [number, number] => {
  const room = max === min ? 1 : ((max - min) / 20) * 1.5;
  return [min - room, max + room];
};
const fromZero = (_: uPlot, min: number, max: number): [number, number] => [Math.min(0, min), Math.max(0, max) * 1.05];

function seriesOf(kind: Chart['kind'], label: string, stroke: string): Series {
  const faint = `color-mix(in srgb, ${stroke} 25%, transparent)`;
  switch (kind) {
    case 'line':
      return { label, stroke, width: 2 };
    case 'area':
      return { label, stroke, width: 2, fill: faint };
    case 'bar':
      return { label, stroke, fill: faint, ...bars() };
    case 'scatter':
      return { label, stroke, paths: () => null, points: { show: true, size: 7 } };
  }
}

const bars = (): Pick<Series, 'paths' | 'points'> => {
  const paths = uPlot.paths.bars?.({ size: [0.6, 64] });
  return paths ? { paths, points: { show: false } } : {};
};
