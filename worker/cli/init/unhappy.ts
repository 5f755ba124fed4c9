import type { Campaign } from '../../../core/feedback/schemas.ts';

/* The one question about acting on answers: who is told of unhappy customers. docs/answers.md has the rest. */

export const ways = {
  nobody: 'nobody is told',
  list: 'a follow-up on the page, due within a day',
  slack: 'a follow-up, and a message in Slack',
  teams: 'a follow-up, and a message in Microsoft Teams',
} as const;
export type Unhappy = keyof typeof ways;

export const unhappyVariable = 'UNHAPPY_URL';

export const isWay = (text: string): text is Unhappy => Object.hasOwn(ways, text);

/** The highest of the lower two fifths of the campaign's grades: 2 of 1 to 5, 1 of 1 to 3. NPS has its own word for unhappy: 0 to 6. */
export function unhappyUpTo(campaign: Pick<Campaign, 'metric' | 'grade_list'> | undefined): number {
  const grades = campaign?.grade_list ?? [];
  if (campaign?.metric === 'nps') return 6;
  if (grades.length === 0) return 2;
  const [least, most] = [Math.min(...grades), Math.max(...grades)];
  return Math.max(...grades.filter((grade) => grade <= least + (most - least) * 0.4));
}

/** The answer rule as the configuration has it. Undefined where nobody is to be told. */
export function unhappyRule(unhappy: Unhappy, upTo: number): object | undefined {
  if (unhappy === 'nobody') return undefined;
  const tells = unhappy === 'list' ? [] : [{ notify: ['unhappy'] }];
  return {
    name: 'unhappy',
    when: `answer.grade <= ${upTo}`,
    do: [{ followUp: { to: 'agent', due: '1d' } }, ...tells],
  };
}
