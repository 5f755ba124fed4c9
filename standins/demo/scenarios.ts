/** One ticket of the demo. Times are hours after the demo's beginning (Monday 16:30 in Tallinn). */
export interface Scenario {
  ticket: number;
  what: string;
  customer: { name: string; phone?: string; email?: string; agent?: boolean };
  store: string;
  /** The id of the agent who solves the ticket. Left out: the first agent of the demo. */
  agent?: number;
  /** The id of the ticket's group. Left out: the first group of the demo. */
  group?: number;
  tags?: string[];
  solvedAt: number;
  /** The ticket whose customer must be asked first, however slow the machine is. */
  solvedAfterAsking?: number;
  reopenedAt?: number;
  solvedAgainAt?: number;
  /** The webhook comes twice. */
  twice?: boolean;
  /**
   * What the customer answers, hours after the request was sent; a second one corrects the first. `request`: which of the requests that they
   * were sent; left out: the last one.
   */
  answers?: { after: number; grade: number; comment?: string; request?: number }[];
  /** Somebody takes up the follow-up that the bad grade has opened, calls so many hours later, and solves the ticket again. */
  followedUp?: { by: string; hours: number; outcome: string };
  /** How the ticket's journeys must end, in order. */
  ends: ('written' | 'skipped' | 'cancelled' | 'expired')[];
}

export const scenarios: Scenario[] = [
  {
    ticket: 1001,
    what: 'solved; the answer to our request for feedback is lost on its way',
    customer: { name: 'Mari', phone: '+37255500001' },
    store: 'Tallinn',
    solvedAt: 0.2,
    answers: [{ after: 1, grade: 5, comment: 'Quick and friendly.' }],
    ends: ['written'],
  },
  {
    ticket: 1002,
    what: 'solved, and tagged no_survey',
    customer: { name: 'Jaan', phone: '+37255500002' },
    store: 'Tallinn',
    tags: ['no_survey'],
    solvedAt: 0.3,
    ends: ['skipped'],
  },
  {
    ticket: 1003,
    what: 'solved; the requester is a colleague',
    customer: { name: 'Agent Smith', email: 'smith@acme.example', agent: true },
    store: 'Tallinn',
    solvedAt: 0.4,
    ends: ['skipped'],
  },
  {
    ticket: 1004,
    what: 'solved; the store is not one the campaign knows',
    customer: { name: 'Peeter', phone: '+37255500004' },
    store: 'Riga',
    solvedAt: 0.5,
    ends: ['skipped'],
  },
  {
    ticket: 1005,
    what: 'solved, reopened by the customer, solved again',
    customer: { name: 'Kati', email: 'kati@example.com' },
    store: 'Tartu',
    solvedAt: 0.6,
    reopenedAt: 1.1,
    solvedAgainAt: 1.8,
    answers: [{ after: 0.5, grade: 3 }],
    ends: ['cancelled', 'written'],
  },
  {
    ticket: 1006,
    what: 'solved, the webhook comes twice; the customer corrects the grade',
    customer: { name: 'Tiit', email: 'tiit@example.com' },
    store: 'Pärnu',
    solvedAt: 0.7,
    twice: true,
    answers: [
      { after: 0.5, grade: 3, comment: 'It broke again.' },
      { after: 3, grade: 4, comment: 'Sorted out now.' },
    ],
    ends: ['written'],
  },
  {
    ticket: 1007,
    what: 'solved; the customer never answers',
    customer: { name: 'Liis', phone: '+37255500007' },
    store: 'Tartu',
    solvedAt: 0.8,
    ends: ['expired'],
  },
  {
    ticket: 1008,
    what: 'solved; the customer of 1001 again, who was just asked',
    customer: { name: 'Mari', phone: '+372 5550 0001' },
    store: 'Tallinn',
    solvedAt: 1.5,
    solvedAfterAsking: 1001,
    ends: ['skipped'],
  },
  {
    ticket: 1009,
    what: 'solved late in the evening',
    customer: { name: 'Anu', email: 'anu@example.com' },
    store: 'Tallinn',
    solvedAt: 5.7,
    answers: [{ after: 1, grade: 4 }],
    ends: ['written'],
  },
  {
    ticket: 1010,
    what: 'solved; the customer is unhappy, is called, and says so when asked again',
    customer: { name: 'Kaja', email: 'kaja@example.com' },
    store: 'Pärnu',
    agent: 9004,
    solvedAt: 0.3,
    answers: [
      { request: 1, after: 0.4, grade: 1, comment: 'Nobody called back, although it was promised twice.' },
      { request: 2, after: 1, grade: 5, comment: 'Jaan called and put it right the same day. Thank you.' },
    ],
    followedUp: { by: 'Jaan Kask', hours: 13, outcome: 'Called her. The part was missing; a new one is on its way.' },
    ends: ['written', 'written'],
  },
];
