import { refOf } from '../../journey/refs.ts';
import { type JourneyState, journeyStates } from '../../journey/states.ts';
import { journeyAt } from '../addresses.ts';
import { type Html, html } from '../html.ts';

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

/** A journey's state in words for people. @param noun what people call the record: "ticket" */
export function stateName(state: JourneyState, noun = 'record'): string {
  return state === 'written' ? `On the ${noun}` : words[state];
}

const words: Record<Exclude<JourneyState, 'written'>, string> = {
  received: 'Came in',
  skipped: 'Not asked',
  waiting: 'To be asked',
  creating: 'Being asked',
  asked: 'Asked',
  answered: 'Answered',
  cancelled: 'Cancelled',
  expired: 'No answer',
  tested: 'Test',
  withheld: 'Would have been asked (dry run)',
  failed: 'Failed',
  parked: 'Needs you',
};

/** The choices of a filter by state. */
export const stateChoices = journeyStates.map((state) => [state, stateName(state)] as const);

/** A journey's state. The colour adds no information to the text. */
export function stateBadge(state: JourneyState, noun?: string): Html {
  return html`<span class="state ${tones[state]}">${stateName(state, noun)}</span>`;
}

/** A journey by its name for people. */
export function journeyLink(source: string, id: string): Html {
  return html`<a href="${journeyAt(source, id)}">${refOf(source, id)}</a>`;
}

/** The word for the records of all these sources; undefined if the words differ. */
export function nounOf(sources: readonly { recordNoun?: string | undefined }[]): string | undefined {
  const [noun, ...others] = new Set(sources.map(({ recordNoun }) => recordNoun));
  return others.length === 0 ? noun : undefined;
}
