import { type JourneyState, journeyStates } from '../../journey/states.ts';
import { type Html, html } from '../html.ts';
import { time } from '../times.ts';

export interface TodaySource {
  name: string;
  journeys: Record<JourneyState, number>;
}

export interface Today {
  sources: readonly TodaySource[];
  at: Date;
  timeZone: string;
}

/** On the way from a closing to its grade on the record, and what left it. */
const way = ['received', 'waiting', 'creating', 'asked', 'answered', 'written'] as const;
const left = journeyStates.filter((state) => !way.some((one) => one === state));

export function todayView({ sources, at, timeZone }: Today): Html {
  return html`<div id="today" data-live>
<p>${time(at, timeZone)} <span class="quiet">(${timeZone})</span></p>
<h2>On their way</h2>
${flow(way, sources)}
<h2>Ended otherwise</h2>
${flow(left, sources)}
</div>`;
}

function flow(states: readonly JourneyState[], sources: readonly TodaySource[]): Html {
  const total = (state: JourneyState) => sources.reduce((sum, { journeys }) => sum + journeys[state], 0);
  return html`<ul class="flow">${states.map((state) => html`<li><span><b>${total(state)}</b> ${state}</span></li>`)}</ul>`;
}
