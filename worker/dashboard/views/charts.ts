import { type Html, html } from '../html.ts';

/** A share of 0 to 1 as a bar. The figure beside it says the same. */
export function shareBar(share: number): Html {
  const width = Math.round(Math.min(1, Math.max(0, share)) * 1_000) / 10;
  return html`<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" focusable="false"><rect class="ground" width="100" height="10"></rect><rect class="fill" width="${width}" height="10"></rect></svg>`;
}

/** A figure between two bounds as a bar: it begins on the left or, where figures may be negative, in the middle. */
export function figureBar(figure: number | null, range: readonly [low: number, high: number] | undefined): Html {
  if (figure === null || range === undefined) return html``;
  const [low, high] = range;
  const at = (value: number): number => Math.min(100, Math.max(0, ((value - low) / (high - low)) * 100));
  if (low >= 0) return shareBar(at(figure) / 100);
  const [from, to] = figure < 0 ? [at(figure), at(0)] : [at(0), at(figure)];
  const [x, width] = [Math.round(from * 10) / 10, Math.round((to - from) * 10) / 10];
  return html`<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" focusable="false"><rect class="ground" width="100" height="10"></rect><rect class="${figure < 0 ? 'fill below' : 'fill'}" x="${x}" width="${width}" height="10"></rect><rect class="middle" x="${Math.round(at(0) * 10) / 10}" width="0.6" height="10"></rect></svg>`;
}

export interface ChartPoint {
  /** The text of the tooltip. */
  name: string;
  figure: number | null;
}

/** The size in the drawing's own units. Pages show it at about this width, so that its text is readable. */
const [width, height] = [440, 180];
/** Above the highest figure there is room for its text. */
const plot = { left: 38, right: width - 14, top: 28, bottom: height - 26 };
const mostNames = 5;

/** Figures over time as a line, which is broken where a figure is missing. The page shows the table of the figures beside it. */
export function lineChart(points: readonly ChartPoint[], range: readonly [number, number], label: string): Html {
  const [low, high] = range;
  const step = points.length > 1 ? (plot.right - plot.left) / (points.length - 1) : 0;
  const yOf = (figure: number): number =>
    rounded(plot.bottom - ((figure - low) / (high - low)) * (plot.bottom - plot.top));
  const placed = points.map(({ name, figure }, i) => ({
    name,
    figure,
    x: rounded(plot.left + i * step),
    y: figure === null ? undefined : yOf(figure),
  }));
  const known = placed.flatMap(({ y, figure, ...rest }) =>
    y === undefined || figure === null ? [] : [{ ...rest, y, figure }],
  );
  const lines = runsOf(placed).map((run) => html`<polyline points="${run.join(' ')}"></polyline>`);
  const grid = ticksOf(range).map(
    (tick) =>
      html`<line class="grid" x1="${plot.left}" x2="${plot.right}" y1="${yOf(tick)}" y2="${yOf(tick)}"></line><text class="tick" x="${plot.left - 6}" y="${yOf(tick) + 4}" text-anchor="end">${written(tick)}</text>`,
  );
  const every = Math.ceil(placed.length / mostNames);
  const names = placed
    .filter((_, i) => (placed.length - 1 - i) % every === 0)
    .map(
      ({ x, name }) =>
        html`<text class="tick" x="${x}" y="${height - 6}" text-anchor="${anchorAt(x)}">${firstDay(name)}</text>`,
    );
  return html`<svg class="line" viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">${grid}${names}${lines}${known.map(
    ({ x, y, name, figure }) =>
      html`<circle cx="${x}" cy="${y}" r="4"><title>${name}: ${written(figure)}</title></circle>`,
  )}${lastFigure(known.at(-1))}</svg>`;
}

/** The last figure of the line, which people look for first. */
function lastFigure(last: { x: number; y: number; figure: number } | undefined): Html | undefined {
  if (last === undefined) return undefined;
  return html`<text class="value" x="${Math.min(last.x + 8, width - 2)}" y="${last.y - 10}" text-anchor="end">${written(last.figure)}</text>`;
}

/** The marks of the axis, from the lowest: every grade of a short scale, every second grade of a long scale, every quarter of a percentage. */
function ticksOf([low, high]: readonly [number, number]): number[] {
  const span = high - low;
  const size = span <= 5 ? 1 : span <= 12 ? 2 : span / 4;
  return Array.from({ length: Math.floor(span / size) + 1 }, (_, i) => low + i * size);
}

function anchorAt(x: number): 'start' | 'middle' | 'end' {
  if (x < plot.left + 20) return 'start';
  return x > plot.right - 20 ? 'end' : 'middle';
}

/** The first day of "27 Oct – 2 Nov": there is no room for more. */
function firstDay(name: string): string {
  const [first = '', rest = ''] = name.split(/\s*[–-]\s*/u);
  return /\p{L}/u.test(first) ? first : `${first} ${/\p{L}.*/u.exec(rest)?.[0] ?? ''}`;
}

function written(figure: number): string {
  return String(rounded(figure)).replace('-', '−');
}

/** Runs of points without a gap: each run is one piece of the line. */
function runsOf(points: readonly { x: number; y: number | undefined }[]): string[][] {
  const runs: string[][] = [[]];
  for (const { x, y } of points) {
    if (y === undefined) runs.push([]);
    else runs.at(-1)?.push(`${x},${y}`);
  }
  return runs.filter((run) => run.length > 1);
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Up to so many bars have a name below them. */
const mostBelow = 16;

export interface Bar {
  /** The bar's name. Its first two letters stand below the bar, if there is room. */
  name: string;
  /** The figure, at least 0; null: no figure, and the place stays empty. */
  figure: number | null;
  /** The text of the tooltip. */
  text: string;
  /** The text above the bar. */
  above: string;
  /** Draws the bar paler, because only few answers count in it. */
  isFew?: boolean;
}

/**
 * Figures as bars side by side. The page shows the table of the figures beside it. @param highest the value at the top; left out: the highest
 * figure
 */
export function barChart(bars: readonly Bar[], label: string, highest = highestOf(bars)): Html {
  const step = (plot.right - plot.left) / bars.length;
  const every = Math.ceil(bars.length / mostBelow);
  const drawn = bars.map(({ name, figure, text, above, isFew }, i) => {
    const x = rounded(plot.left + i * step);
    const middle = rounded(x + step / 2);
    const isNamed = (bars.length - 1 - i) % every === 0;
    const below =
      isNamed &&
      html`<text class="tick" x="${middle}" y="${height - 8}" text-anchor="middle">${name.slice(0, 2)}</text>`;
    if (figure === null) return html`${below}`;
    const y = rounded(plot.bottom - (figure / highest) * (plot.bottom - plot.top));
    return html`<rect class="${isFew ? 'fill few' : 'fill'}" x="${rounded(x + step * 0.12)}" width="${rounded(step * 0.76)}" y="${y}" height="${rounded(plot.bottom - y)}"><title>${name}: ${text}</title></rect>
<text class="tick" x="${middle}" y="${y - 4}" text-anchor="middle">${above}</text>${below}`;
  });
  return html`<svg class="line" viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}"><line class="grid" x1="${plot.left}" x2="${plot.right}" y1="${plot.bottom}" y2="${plot.bottom}"></line>${drawn}</svg>`;
}

/** The value at the top; also for several charts that share a scale. */
export function highestOf(bars: readonly Bar[]): number {
  return Math.max(...bars.map(({ figure }) => figure ?? 0), 0.01);
}
