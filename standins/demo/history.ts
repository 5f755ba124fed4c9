import { type Case, caseOf, chance, customerOf } from './people.ts';

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
