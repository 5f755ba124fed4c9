import { toneOf } from '../../reports/grades.ts';
import { answersAt, journeyAt } from '../addresses.ts';
import { type Content, type Html, html, linked } from '../html.ts';
import type { ShownAnswer } from '../shown-answer.ts';
import { ago } from '../times.ts';

/** "2 of 5". The colour adds no information to the text. */
export function gradeBadge({ grade, maxGrade }: Pick<ShownAnswer, 'grade' | 'maxGrade'>): Html {
  if (grade === null) return html`<span class="grade">no grade</span>`;
  return html`<span class="grade ${toneOf(grade, maxGrade)}"><b>${grade}</b>${maxGrade !== undefined && ` of ${maxGrade}`}</span>`;
}

/** The customer's comment, if there is one. */
export function wordsOf({ comment }: Pick<ShownAnswer, 'comment'>): Content {
  return comment !== '' && html`<p class="said">${comment}</p>`;
}

/** An answer in a list, with further content below it. */
export function answerCard(answer: ShownAnswer, clock: { now: Date; timeZone: string }, below?: Content): Html {
  const { at, comment } = answer;
  return html`<li class="card"><p class="card-head">${gradeBadge(answer)} <span class="quiet">${comment === '' && 'without words · '}${at && ago(at, clock.now, clock.timeZone)}</span></p>
${wordsOf(answer)}
${aboutAnswer(answer)}${below}</li>`;
}

/** The customer, the campaign and the values. Each links to the answers that share it. */
export function aboutAnswer(answer: ShownAnswer): Html {
  const { customer, campaign, campaignName, values, isTest } = answer;
  const parts: Content[] = [
    isTest && html`<strong>Test</strong>`,
    customer,
    ...values.map(
      ([field, value]) => value !== '' && html`${field} <a href="${answersAt({}, { [field]: value })}">${value}</a>`,
    ),
    campaign !== undefined &&
      html`<a href="${answersAt({ campaign: String(campaign) })}">${campaignName === '' ? `Campaign ${campaign}` : campaignName}</a>`,
    recordLinks(answer),
  ];
  const shown = parts.filter((one) => one !== false && one !== undefined && one !== '');
  return html`<p class="quiet about">${shown.map((one, i) => html`${i > 0 && ' · '}${one}`)}</p>`;
}

/** Links to the record at its vendor, and to the journey. */
export function recordLinks({ source, id, record, recordUrl }: ShownAnswer): Html {
  return html`${linked(`${source} ${record}`, recordUrl)} (<a href="${journeyAt(source, id)}">journey</a>)`;
}
