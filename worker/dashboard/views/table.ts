import { type Content, type Html, html } from '../html.ts';

/** A column: its head, and how its cells look. */
export interface Column {
  /** Above the column, and on a phone before each of its cells. */
  name: string;
  /** Figures are right, names of journeys and values may break anywhere, drawings need no name on a phone. */
  kind?: 'right' | 'ref' | 'drawn';
}

interface Table {
  /** For screen readers. */
  name: string;
  caption?: Content;
  columns: readonly Column[];
  /** A cell for each column; the first names the row. */
  rows: readonly (readonly Content[])[];
  /** In place of the row after these. */
  last?: Content;
}

/** A table that scrolls where it is too wide, and is a list of cards on a phone. */
export function table({ name, caption, columns, rows, last }: Table): Html {
  const head = ({ name: text, kind }: Column): Html =>
    html`<th scope="col"${classOf(kind)}>${kind === 'drawn' ? html`<span class="unseen">${text}</span>` : text}</th>`;
  return html`<div class="wide" role="region" aria-label="${name}" tabindex="0"><table class="rows">
${caption !== undefined && html`<caption>${caption}</caption>`}
<thead><tr>${columns.map(head)}</tr></thead>
<tbody>${rows.map((cells) => html`<tr>${cellsOf(cells, columns)}</tr>`)}${last}</tbody></table></div>`;
}

export function cellsOf(cells: readonly Content[], columns: readonly Column[]): Content {
  return cells.map((content, i) => {
    const { name = '', kind } = columns[i] ?? {};
    if (i === 0) return html`<th scope="row"${classOf(kind)}>${together(content)}</th>`;
    return html`<td${classOf(kind)} data-label="${kind === 'drawn' ? '' : name}">${together(content)}</td>`;
  });
}

/** On a phone a cell's name is on the left and all else on the right. */
function together(content: Content): Content {
  const isPlain = typeof content !== 'object' || content === null;
  return isPlain ? content : html`<span>${content}</span>`;
}

function classOf(kind: Column['kind']): Content {
  return kind && html` class="${kind}"`;
}
