import { refOf } from '../../journey/refs.ts';
import { type JourneyState, journeyStates } from '../../journey/states.ts';
import { journeyAt } from '../addresses.ts';
import { type Content, type Html, html } from '../html.ts';

/**
 * `right`: figures, right-aligned. `ref`: names and values that may break anywhere. `drawn`: drawings, which need no heading on a phone.
 */
type Kind = 'right' | 'ref' | 'drawn';

/** A column by its heading, which on a phone stands before each cell. */
export type Column = string | { name: string; kind: Kind };

export const right = (name: string): Column => ({ name, kind: 'right' });
export const named = (name: string): Column => ({ name, kind: 'ref' });
export const drawn = (name: string): Column => ({ name, kind: 'drawn' });

interface Table {
  /** The table's name for screen readers. */
  name: string;
  caption?: Content;
  columns: readonly Column[];
  /** A cell for each column; the first names the row. */
  rows: readonly (readonly Content[])[];
  /** Markup below these rows, such as a row of another form. */
  last?: Content;
}

/** A table that scrolls if it is too wide, and becomes a list of cards on a phone. */
export function table({ name, caption, columns, rows, last }: Table): Html {
  const head = (column: Column): Html => {
    const { name: text, kind } = styled(column);
    return html`<th scope="col"${classOf(kind)}>${kind === 'drawn' ? html`<span class="unseen">${text}</span>` : text}</th>`;
  };
  return html`<div class="wide" role="region" aria-label="${name}" tabindex="0"><table class="rows">
${caption !== undefined && html`<caption>${caption}</caption>`}
<thead><tr>${columns.map(head)}</tr></thead>
<tbody>${rows.map((cells) => html`<tr>${cellsOf(cells, columns)}</tr>`)}${last}</tbody></table></div>`;
}

export function cellsOf(cells: readonly Content[], columns: readonly Column[]): Content {
  return cells.map((content, i) => {
    const { name, kind } = styled(columns[i] ?? '');
    if (i === 0) return html`<th scope="row"${classOf(kind)}>${together(content)}</th>`;
    return html`<td${classOf(kind)} data-label="${kind === 'drawn' ? '' : name}">${together(content)}</td>`;
  });
}

/** Wraps the content in one element: on a phone a cell's heading is on the left, and all its content on the right. */
function together(content: Content): Content {
  const isPlain = typeof content !== 'object' || content === null;
  return isPlain ? content : html`<span>${content}</span>`;
}

const styled = (column: Column): { name: string; kind?: Kind } =>
  typeof column === 'string' ? { name: column } : column;

function classOf(kind: Kind | undefined): Content {
  return kind && html` class="${kind}"`;
}

/** A list of names with their values. Entries without a value are left out. */
export function facts(all: readonly (readonly [name: string, value: Content])[]): Html {
  const told = all.filter(([, value]) => value !== undefined && value !== null && value !== false && value !== '');
  return html`<dl class="facts">${told.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>`;
}

const tones: Record<JourneyState, 'go' | 'wait' | 'good' | 'bad' | 'plain'> = {
  received: 'go',
  skipped: 'plain',
  waiting: 'wait',
  creating: 'go',
  asked: 'go',
  answered: 'go',
  written: 'good',
  cancelled: 'plain',
  expired: 'plain',
  tested: 'plain',
  withheld: 'good',
  failed: 'bad',
  parked: 'bad',
};

/** A journey's state in words for people. */
export const stateNames: Readonly<Record<JourneyState, string>> = {
  received: 'Came in',
  skipped: 'Not asked',
  waiting: 'To be asked',
  creating: 'Being asked',
  asked: 'Asked',
  answered: 'Answered',
  written: 'On the record',
  cancelled: 'Cancelled',
  expired: 'No answer',
  tested: 'Test',
  withheld: 'Would have been asked (dry run)',
  failed: 'Failed',
  parked: 'Needs you',
};

/** The choices of a filter by state. */
export const stateChoices = journeyStates.map((state) => [state, stateNames[state]] as const);

/** A journey's state. The colour adds no information to the text. */
export function stateBadge(state: JourneyState): Html {
  return html`<span class="state ${tones[state]}">${stateNames[state]}</span>`;
}

/** A link to a journey. Its text is the journey's name for people. */
export function journeyLink(source: string, id: string): Html {
  return html`<a href="${journeyAt(source, id)}">${refOf(source, id)}</a>`;
}
