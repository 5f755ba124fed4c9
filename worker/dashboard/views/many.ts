import type { JourneyState } from '../../journey/states.ts';
import type { Repair } from '../../support/repair.ts';
import { listAt, pathTo } from '../addresses.ts';
import { type Content, type Html, html } from '../html.ts';
import { csrfField } from './forms.ts';

/** The actions that a person may do with many journeys at once. Each does the same as on a journey's page. */
export const manyActions = ['replay', 'ask-now', 'cancel'] as const satisfies readonly Repair[];
export type ManyAction = (typeof manyActions)[number];

export const manyTitles: Record<ManyAction, string> = {
  replay: 'Replay',
  'ask-now': 'Ask now about',
  cancel: 'Cancel',
};
const didWords: Record<ManyAction, string> = {
  replay: 'taken up again',
  'ask-now': 'asked as soon as they may be',
  cancel: 'cancelled',
};

/** The actions that may help journeys in a state. */
const ofState: Partial<Record<JourneyState, readonly ManyAction[]>> = {
  failed: ['replay', 'cancel'],
  parked: ['replay', 'cancel'],
  skipped: ['replay'],
  waiting: ['ask-now', 'cancel'],
  asked: ['cancel'],
};

/** The name of a journey's checkbox in a form. */
export const selectedName = (ref: string): string => `j.${ref}`;

const shownRefs = 20;

interface Many {
  action: ManyAction;
  refs: readonly string[];
  /** The most journeys that one form acts on. */
  most: number;
  /** The filter or the selected journeys, which the form sends along. */
  fields: Readonly<Record<string, string>>;
  csrf: string;
}

export function manyView({ action, refs, most, fields, csrf }: Many): Html {
  const back = html`<a class="button" href="${listAt({ ...fields, after: undefined })}">Back</a>`;
  if (refs.length === 0)
    return html`<p class="notice">No journey of these can have that.</p><p class="actions">${back}</p>`;
  return html`${refs.length > most && html`<p class="notice">The first ${most} of them now; the others by the same form afterwards.</p>`}
<ul>${refs.slice(0, shownRefs).map((ref) => html`<li>${ref}</li>`)}</ul>
${refs.length > shownRefs && html`<p class="quiet">And ${refs.length - shownRefs} more.</p>`}
<p>Nobody is asked twice: a journey that can not have it any more is left as it is.</p>
<form method="post" action="/many/${action}">
${csrfField(csrf)}
${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${action === 'cancel' && html`<div class="filter"><div class="grow"><label for="why">Why, for their timelines (no names: it outlives an erasure)</label><input id="why" name="why" value="cancelled by a person" required maxlength="500"></div></div>`}
<p class="actions"><button class="main-button">${manyTitles[action]} ${Math.min(refs.length, most)} journeys</button> ${back}</p>
</form>`;
}

/** The actions on the selected journeys of a list, and on all journeys that match its filter. */
export function manyLinks(
  query: Readonly<Record<string, string | undefined>>,
  state: JourneyState | undefined,
): Content {
  const { after: _, ...filter } = query;
  const fitting = (state && ofState[state]) ?? [];
  return html`<p class="actions">With the selected: ${manyActions.map((action) => html`<button formaction="/many/${action}">${manyTitles[action]}…</button> `)}</p>
${fitting.length > 0 && html`<p class="actions">With all that fit: ${fitting.map((action) => html`<a class="button" href="${pathTo(`/many/${action}`, filter)}">${manyTitles[action]} all…</a> `)}</p>`}`;
}

export interface ToldOfMany {
  did?: ManyAction | undefined;
  /** On how many journeys the action was done, was not possible, and how many more match the filter. */
  done?: string | undefined;
  refused?: string | undefined;
  left?: string | undefined;
}

/** The sentence above the list about the action that the person has just done. */
export function manyTold({ did, done = '0', refused = '0', left = '0' }: ToldOfMany): Content {
  if (did === undefined) return undefined;
  return html`<p class="notice good" role="status">${done} ${done === '1' ? 'journey was' : 'journeys were'} ${didWords[did]}.${refused !== '0' && ` ${refused} could not have it: they are as they were.`}${left !== '0' && ` ${left} more fit: do it once more.`}</p>`;
}
