// biome-ignore-all lint/suspicious/noTemplateCurlyInString: pieces of the example's source
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Connector } from '../../../core/connector/contract.ts';
import { sample } from '../../../examples/helpdesk-connector/sample.ts';
import { failWith } from '../../support/contract/actions.ts';
import { createBench } from '../../support/contract/bench.ts';
import { failuresOf } from '../../support/contract/failures.ts';
import type { ConnectorSample } from '../../support/contract/sample.ts';

/*
 * Mistakes as a stranger makes them, each planted alone into the source of the example. Every one loses customers, answers or their
 * trust in silence: the suite has to go red, by the test that names the duty.
 */

interface Mistake {
  what: string;
  /** In the example's source, once. */
  from: string;
  to: string;
  found: RegExp;
}

const mistakes: Mistake[] = [
  {
    what: 'a closing that is named by the last change',
    from: 'closing: `${closings}`, closedAt }',
    to: 'closing: String(ticket.changedAt), closedAt }',
    found: /the same closing after a write/,
  },
  {
    what: 'a key that is equal for the second closing of a record',
    from: 'key: `${recordId}.${closings}`',
    to: 'key: recordId',
    found: /second closing of one record another key/,
  },
  {
    what: 'a poll that stops after its first page',
    from: 'next: next ?? undefined',
    to: 'next: undefined',
    found: /every closing of more than one page/,
  },
  {
    what: 'a poll that tells closings of one second apart by nothing',
    from: 'events: tickets.map(eventOf)',
    to: 'events: [...new Map(tickets.map((one) => [String(one.closedAt), eventOf(one)])).values()]',
    found: /all are of one second/,
  },
  {
    what: 'an older answer over a newer one',
    from: '!isOlderThan(item, before.get(item.recordId)?.answeredAt?.getTime())',
    to: 'item !== undefined',
    found: /older answer over a newer one/,
  },
  {
    what: 'a swallowed value that is reported as written',
    from: 'const isKept = ticket.grade === grade;',
    to: 'const isKept = true;',
    found: /did not keep a grade/,
  },
  {
    what: 'a public note',
    from: 'public: false }',
    to: 'public: true }',
    found: /which the customer never sees/,
  },
  {
    what: 'a note that is written anew by each attempt',
    from: '!there.has(marker)',
    to: '!there.has(`${marker}!`)',
    found: /no second note/,
  },
  {
    what: "the customer's words as markup",
    from: 'html: noteHtml(item)',
    to: "html: noteHtml(item).replaceAll('&lt;', '<').replaceAll('&gt;', '>')",
    found: /with the comment as it was written/,
  },
  {
    what: 'a value that a dropdown lacks, left out without a word',
    from: 'return { ok: true, findings: [`Deskly\'s dropdown "Grade" lacks ${grade}: add it`] };',
    to: 'return { ok: true, findings: [] };',
    found: /a dropdown lacks the grade/,
  },
  {
    what: 'a value that a dropdown lacks, which keeps out all other answers',
    from: 'grade: fits(item) ? grade : null',
    to: 'grade',
    found: /a dropdown lacks the grade/,
  },
  {
    what: 'results in the order of the vendor',
    from: 'return ids.map((id) => {',
    to: 'return ids.toSorted().map((id) => {',
    found: /one result per id, in order/,
  },
  {
    what: 'one record that takes nothing, and fails all',
    from: "if (ticket.archived) return { ok: false, why: 'closed', message: `Deskly has archived ticket ${id}.` };",
    to: "if (ticket.archived) throw new Error('archived');",
    found: /one record that takes no answers/,
  },
  {
    what: 'an id that leads elsewhere',
    from: 'ids=${encodeURIComponent(some.join())}',
    to: 'ids=${some.join()}',
    found: /led nowhere by an id/,
  },
  {
    what: 'a delivery that can be sent again for ever',
    from: 'toleranceMs: 300_000',
    to: 'toleranceMs: Number.POSITIVE_INFINITY',
    found: /as stale/,
  },
  {
    what: 'a signature that nobody looks at',
    from: 'verify: (delivery) => verifyHmac(delivery, webhookSecrets, signature)',
    to: 'verify: () => ({ ok: true })',
    found: /any byte of the body changed/,
  },
  {
    what: 'a record that is gone, and stops those beside it',
    from: "if (ticket === undefined) return { ok: false, why: 'not-found' };",
    to: "if (ticket === undefined) throw new Error('no such ticket');",
    found: /one result per id, in order/,
  },
  {
    what: 'a comment in a message',
    from: 'did not keep the grade of ${id}',
    to: 'did not keep the grade of ${id} ("${item.comment}")',
    found: /did not keep a grade/,
  },
];

const root = resolve(import.meta.dirname, '../../..');
const source = readFileSync(join(root, 'examples/helpdesk-connector/connector.ts'), 'utf8');
const Module = z.object({ default: z.custom<Connector>() });
let folder: string;

// In the repository, where `closeloop` is its source.
beforeAll(() => {
  mkdirSync(join(root, '.closeloop'), { recursive: true });
  folder = mkdtempSync(join(root, '.closeloop/mistakes-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function withMistake({ from, to }: Mistake): Promise<Connector> {
  expect(source.split(from).length, `the example has to say once: ${from}`).toBe(2);
  const file = join(mkdtempSync(join(folder, 'one-')), 'connector.ts');
  writeFileSync(
    file,
    source.replace(from, () => to),
  );
  return Module.parse(await import(/* @vite-ignore */ file)).default;
}

describe('the suite goes red for', () => {
  test.each(mistakes)('$what', async (mistake) => {
    const connector = await withMistake(mistake);
    expect(await failuresOf({ ...sample, connector }, mistake.found)).not.toEqual([]);
  });
});

test('settings of the sample that the connector refuses are told, and the vendor is closed', async () => {
  let isClosed = false;
  const misspelt: ConnectorSample = {
    ...sample,
    async start() {
      const vendor = await sample.start();
      const close = async () => {
        isClosed = true;
        await vendor.close();
      };
      return { ...vendor, close, settings: (given) => ({ ...vendor.settings(given), writeBak: {} }) };
    },
  };
  await expect(createBench(misspelt)).rejects.toThrow(
    /^the connector refuses what `settings\(\)` of the sample gives: .*"writeBak"/,
  );
  expect(isClosed).toBe(true);
});

test('a test that fails by the error of a result says that error', () => {
  const error = new Error('Deskly: no team "Escalations"');
  const fail = () => failWith('not done', { ok: false, why: 'error', error });
  expect(fail).toThrow(expect.objectContaining({ message: `not done: ${error.message}`, cause: error }));
});
