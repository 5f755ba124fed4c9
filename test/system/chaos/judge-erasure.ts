import type { Case } from './cases.ts';

/**
 * From the last look at whether a person is to be erased to their request, at most: their contact is read at the service, then a request
 * is sent within 5 s or not at all, and the service takes its time. A process that is stopped in between sends nothing.
 */
const onItsWayMs = 20_000;

/** What is left of a person whose erasure was acknowledged. */
export function leftOfForgotten({ record, requests, journeys, forgotten, said, shown }: Case): string[] {
  if (forgotten.length === 0) return [];
  const [{ email }] = record.people;
  const since = Math.min(...forgotten.map(({ at }) => at));
  const unmasked = requests.filter(({ requestId }) => said.get(requestId)?.contact === email);
  return [
    ...unmasked.map(({ requestId }) => `request ${requestId} still shows the contact`),
    ...requests
      .filter(({ at }) => at - since > onItsWayMs)
      .map(({ requestId, at }) => `request ${requestId} came ${at - since} ms after the erasure was accepted`),
    ...journeys.flatMap(({ id, contact, answer }) =>
      contact || answer ? [`journey ${id} still holds their data`] : [],
    ),
    ...new Set(forgotten.flatMap(({ inClear }) => inClear.map((name) => `Redis holds the contact in ${name}`))),
    ...(shown?.comment ? ['the record still shows their comment'] : []),
  ];
}
