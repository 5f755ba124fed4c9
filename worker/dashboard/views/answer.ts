import { answersAt, journeyAt } from '../addresses.ts';
import { type Content, type Html, html, linked } from '../html.ts';
import type { ShownAnswer } from '../shown-answer.ts';
import { ago } from '../times.ts';

/** "2 of 5", in a colour that says nothing more. */
export function gradeBadge({ grade, maxGrade }: Pick<ShownAnswer, 'grade' | 'maxGrade'>): Html {
  if (grade === null) return html`<span class="grade">no grade</span>`;
  return html`<span class="grade ${toneOf(grade, maxGrade)}"><b>${grade}</b>${maxGrade !== undefined && ` of ${maxGrade}`}</span>`;
}

/** As customers are counted who recommend, and who do not: on eleven grades the lower seven are no praise. */
function toneOf(grade: number, maxGrade: number | undefined): 'bad' | 'wait' | 'good' | '' {
  if (maxGrade === undefined || maxGrade <= 1) return '';
  const share = grade / maxGrade;
  if (share >= (maxGrade >= 10 ? 0.9 : 0.8)) return 'good';
  return share <= (maxGrade >= 10 ? 0.6 : 0.4) ? 'bad' : 'wait';
}

/** What they wrote. */
export function wordsOf({ comment }: Pick<ShownAnswer, 'comment'>): Html {
  return comment === '' ? html`<p class="quiet">Without words.</p>` : html`<p class="said">${comment}</p>`;
}

/** Who, about what, and when: each part leads to the answers that share it. */
export function aboutAnswer(answer: ShownAnswer, { now, timeZone }: { now: Date; timeZone: string }): Html {
  const { at, customer, campaign, campaignName, values, isTest } = answer;
  const parts: Content[] = [
    isTest && html`<strong>Test</strong>`,
    customer,
    ...values.map(
      ([field, value]) => value !== '' && html`${field} <a href="${answersAt({}, { [field]: value })}">${value}</a>`,
    ),
    campaign !== undefined &&
      html`<a href="${answersAt({ campaign: String(campaign) })}">${campaignName === '' ? `Campaign ${campaign}` : campaignName}</a>`,
    recordLinks(answer),
    at && ago(at, now, timeZone),
  ];
  const shown = parts.filter((one) => one !== false && one !== undefined && one !== '');
  return html`<p class="quiet about">${shown.map((one, i) => html`${i > 0 && ' · '}${one}`)}</p>`;
}

/** To the record at its vendor, and to what happened here. */
export function recordLinks({ source, id, record, recordUrl }: ShownAnswer): Html {
  return html`${linked(`${source} ${record}`, recordUrl)} (<a href="${journeyAt(source, id)}">journey</a>)`;
}
