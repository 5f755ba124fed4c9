import { type Html, html } from '../html.ts';

/** A share of 0 to 1 as a bar. It says nothing that no figure beside it says. */
export function shareBar(share: number): Html {
  const width = Math.round(Math.min(1, Math.max(0, share)) * 1_000) / 10;
  return html`<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" focusable="false"><rect class="ground" width="100" height="10"></rect><rect class="fill" width="${width}" height="10"></rect></svg>`;
}

/** A figure between two bounds as a bar: from the left, or, where it may be negative, from the middle to either side. */
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
  /** What it is called where somebody points at it. */
  name: string;
  figure: number | null;
}

const [width, height, edge] = [600, 140, 8];

/** Figures one after the other as a line; where there is none the line is broken. Its table is shown beside it. */
export function lineChart(points: readonly ChartPoint[], [low, high]: readonly [number, number], label: string): Html {
  const step = points.length > 1 ? (width - 2 * edge) / (points.length - 1) : 0;
  const placed = points.map(({ name, figure }, i) => ({
    name,
    figure,
    x: rounded(edge + i * step),
    y: figure === null ? undefined : rounded(height - edge - ((figure - low) / (high - low)) * (height - 2 * edge)),
  }));
  const known = placed.flatMap(({ y, ...rest }) => (y === undefined ? [] : [{ ...rest, y }]));
  const lines = runsOf(placed).map((run) => html`<polyline points="${run.join(' ')}"></polyline>`);
  const grid = [edge, height / 2, height - edge].map(
    (y) => html`<line class="grid" x1="0" x2="${width}" y1="${y}" y2="${y}"></line>`,
  );
  return html`<svg class="line" viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">${grid}${lines}${known.map(
    ({ x, y, name, figure }) => html`<circle cx="${x}" cy="${y}" r="5"><title>${name}: ${figure}</title></circle>`,
  )}</svg>`;
}

/** Points that follow on each other, as the line takes them. */
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
