import type { JourneyState } from '../../journey/states.ts';
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

/** A journey's state; its colour says nothing that its word doesn't. */
export function stateBadge(state: JourneyState): Html {
  return html`<span class="state ${tones[state]}">${state}</span>`;
}
