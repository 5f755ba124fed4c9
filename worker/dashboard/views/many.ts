import type { JourneyState } from '../../journey/states.ts';
import type { Repair } from '../../support/repair.ts';
import { listAt, pathTo } from '../addresses.ts';
import { type Content, type Html, html } from '../html.ts';
import { csrfField } from './forms.ts';

/** What may be done with many journeys at once: each of them is the same as on a journey's page. */
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

/** What may help journeys in this state. */
const ofState: Partial<Record<JourneyState, readonly ManyAction[]>> = {
  failed: ['replay', 'cancel'],
  parked: ['replay', 'cancel'],
  skipped: ['replay'],
  waiting: ['ask-now', 'cancel'],
  asked: ['cancel'],
};

/** Names of a reference in a form. */
export const selectedName = (ref: string): string => `j.${ref}`;

const shownRefs = 20;

interface Many {
  action: ManyAction;
  refs: readonly string[];
  /** As many as one form acts on. */
  most: number;
  /** The filter, or what was selected: they are sent with the form. */
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

/** Of a list: what may be done with those that are selected, and with all that its filter fits. */
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
  /** How many had it, could not have it, and fit beside these. */
  done?: string | undefined;
  refused?: string | undefined;
  left?: string | undefined;
}

/** What was just done, told above the list. */
export function manyTold({ did, done = '0', refused = '0', left = '0' }: ToldOfMany): Content {
  if (did === undefined) return undefined;
  return html`<p class="notice good" role="status">${done} ${done === '1' ? 'journey was' : 'journeys were'} ${didWords[did]}.${refused !== '0' && ` ${refused} could not have it: they are as they were.`}${left !== '0' && ` ${left} more fit: do it once more.`}</p>`;
}
