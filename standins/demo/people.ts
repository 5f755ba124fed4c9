/** Who works at the demo's company, what its customers are asked about, and what they say. */

export const agents = [
  { id: 9001, name: 'Maria Tamm' },
  { id: 9002, name: 'Jaan Kask' },
  { id: 9003, name: 'Liis Saar' },
  { id: 9004, name: 'Tiit Mägi' },
] as const;

export const stores = ['Tallinn', 'Tartu', 'Pärnu', 'Viljandi'] as const;

/** By the group of a ticket. */
export const campaigns = [
  { id: 12, name: 'After support', group: { id: 2001, name: 'Phone' }, metric: 'csat', maxGrade: 5 },
  { id: 14, name: 'After delivery', group: { id: 2002, name: 'Orders' }, metric: 'nps', maxGrade: 10 },
] as const;
export type DemoCampaign = (typeof campaigns)[number];

/** Many customers answer without words. */
const words: Record<DemoCampaign['id'], Record<'bad' | 'fair' | 'good', readonly string[]>> = {
  12: {
    bad: [
      'I was put through three times and told the same story each time.',
      'Nobody called back, although it was promised twice.',
      'The answer did not fit my question. It still does not work.',
      'Forty minutes in the queue, then the call was cut.',
      'I was told it is my own fault. It is not.',
      'Still waiting for the part. Three weeks now.',
      'The repair lasted two days.',
      'Nobody reads what I write: the same template came back.',
    ],
    fair: [
      'Friendly, but it took two days.',
      'Solved in the end. The first answer was wrong.',
      'Fine, only the waiting music is terrible.',
      'It works again, but nobody said what it was.',
      'Good advice, after the second call.',
    ],
    good: [
      'Quick and friendly.',
      'Knew at once what was wrong. Thank you!',
      'Solved on the phone within five minutes.',
      'Called me back exactly when they said they would.',
      'Very patient with my many questions.',
      'Best service I have had in years.',
      'The voucher was a nice surprise.',
      'Liis explained it so that even I understood.',
      'Sorted out before I had finished my coffee.',
      'No complaints at all.',
    ],
  },
  14: {
    bad: [
      'The parcel came four days late and the box was open.',
      'Half of the order is missing, and the tracking says delivered.',
      'The courier left it in the rain.',
      'Wrong size, and I have to pay for sending it back.',
      'Nobody rang, and a note said I was not at home. I was.',
      'Broken glass, no padding at all.',
      'Delivered to the neighbour two streets away.',
    ],
    fair: [
      'Arrived a day late, otherwise as ordered.',
      'Good product, far too much plastic around it.',
      'The pick-up point was closed when I came.',
    ],
    good: [
      'Here the next morning. Well packed.',
      'The courier even rang before coming.',
      'Third order, and everything right again.',
      'Exactly as in the picture, and fast.',
      'I could change the day twice. Very handy.',
      'Well done, see you again.',
      'Fast, tidy, friendly.',
    ],
  },
};

/** Chance by a number, the same for each run. */
export function chance(n: number, salt: number): number {
  let x = Math.imul(n + 1, 0x9e3779b1) ^ Math.imul(salt + 1, 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 15), 0x2c1b3c6d);
  x = Math.imul(x ^ (x >>> 12), 0x297a2d39);
  return ((x ^ (x >>> 15)) >>> 0) / 2 ** 32;
}

function pick<T>(list: readonly T[], at: number): T {
  const one = list[Math.floor(at * list.length)];
  if (one === undefined) throw new RangeError('nothing to pick from');
  return one;
}

/** One closing of many: who had it, and what the customer answers, if they do. */
export interface Case {
  campaign: DemoCampaign;
  store: string;
  agent: (typeof agents)[number];
  answer?: { hours: number; grade: number; comment?: string };
}

/** @param isRecent of the last weeks: a store has got worse since */
export function caseOf(n: number, { isRecent }: { isRecent: boolean }): Case {
  const campaign = pick([campaigns[0], campaigns[0], campaigns[1]], chance(n, 1));
  const store = pick([...stores, 'Tallinn', 'Tallinn', 'Tartu'], chance(n, 2));
  const agent = pick(agents, chance(n, 3));
  if (chance(n, 4) > 0.34) return { campaign, store, agent };
  const isWorse = isRecent && store === 'Pärnu';
  const mood = moodOf(chance(n, 5), (isWorse ? 0.42 : 0.1) + (agent === agents[3] ? 0.08 : 0));
  const grade = gradeOf(mood, campaign, chance(n, 6));
  const isSaid = chance(n, 7) < (mood === 'bad' ? 0.9 : 0.5);
  const comment = pick(words[campaign.id][mood], chance(n, 8));
  return {
    campaign,
    store,
    agent,
    answer: { hours: 1 + Math.floor(chance(n, 9) * 20), grade, ...(isSaid && { comment }) },
  };
}

function moodOf(at: number, shareOfBad: number): 'bad' | 'fair' | 'good' {
  if (at < shareOfBad) return 'bad';
  return at < shareOfBad + 0.2 ? 'fair' : 'good';
}

function gradeOf(mood: 'bad' | 'fair' | 'good', { maxGrade }: DemoCampaign, at: number): number {
  const grades =
    maxGrade === 5
      ? { bad: [1, 2], fair: [3], good: [4, 5, 5] }
      : { bad: [1, 2, 3, 4], fair: [6, 7, 8], good: [9, 9, 10] };
  return pick(grades[mood], at);
}

const firstNames = [
  'Anu',
  'Peeter',
  'Kadri',
  'Rein',
  'Triin',
  'Toomas',
  'Helen',
  'Siim',
  'Eve',
  'Madis',
  'Katrin',
  'Urmas',
];
const lastNames = ['Lepp', 'Kuusk', 'Org', 'Rand', 'Pärn', 'Jõgi', 'Vaher', 'Raud'];

export function customerOf(n: number): { name: string; email: string } {
  const [first, last] = [pick(firstNames, chance(n, 20)), pick(lastNames, chance(n, 21))];
  return { name: `${first} ${last}`, email: `${ascii(first)}.${ascii(last)}.${n}@example.com` };
}

function ascii(name: string): string {
  return name
    .toLowerCase()
    .normalize('NFD')
    .replace(/[^a-z]/g, '');
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** A closing from before the demo begins. */
export interface PastCase extends Case {
  ticket: number;
  customer: { name: string; email: string };
  closedAt: Date;
  askedAt: Date;
  /** Undefined: nobody answered. */
  answeredAt?: Date;
}

/** Weeks of closings up to the beginning: a few each day, asked in the hours in which one may ask. */
export function pastCases(begin: Date, days = 64): PastCase[] {
  const cases: PastCase[] = [];
  const midnight = begin.getTime() - (begin.getTime() % dayMs);
  let ticket = 100;
  for (let day = days; day >= 0; day--) {
    const ofDay = 5 + Math.floor(chance(day, 30) * 5);
    for (let i = 0; i < ofDay; i++) {
      const n = ++ticket;
      const one = caseOf(n, { isRecent: day < 24 });
      const closedAt = new Date(midnight - day * dayMs + (7 + chance(n, 31) * 6) * hourMs);
      const askedAt = new Date(closedAt.getTime() + 2 * hourMs);
      const answeredAt = one.answer && new Date(askedAt.getTime() + one.answer.hours * hourMs * 0.9);
      // What is still under way when the demo begins is the demo's own.
      if (askedAt > begin || (answeredAt && answeredAt > begin)) continue;
      cases.push({ ...one, ticket: n, customer: customerOf(n), closedAt, askedAt, ...(answeredAt && { answeredAt }) });
    }
  }
  return cases;
}
