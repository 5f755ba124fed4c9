import { describe, expect, test } from 'vitest';
import { hubspot } from '../../../../connectors/hubspot/hubspot.ts';
import { propertiesOf } from '../../../../connectors/hubspot/write.ts';
import type { AnswerValue, WriteBack } from '../../../../core/connector/contract.ts';
import { startHubspotStandin } from '../../../../standins/hubspot/standin.ts';
import { findsEach } from '../../../support/connectors/hubspot/checking.ts';
import { hookUrl } from '../../../support/connectors/hubspot/planted.ts';
import { openPorts } from '../../../support/contract/bench.ts';

const item: WriteBack = {
  recordId: 'ticket-7',
  status: 'answered',
  marker: 'j7.1',
  grade: 4,
  comment: null,
  answeredAt: new Date('2026-11-21T10:00:00Z'),
  campaign: 'Support',
};
const answers = { 17: 'why_so', q2: 'how_long' };

describe('an answer to a survey', () => {
  const rows: [what: string, answer: AnswerValue, text: string][] = [
    ['a text', 'It was late', 'It was late'],
    ['a number', 0, '0'],
    ['yes or no', false, 'false'],
    ['several', ['a', 'b'], 'a;b'],
    ['a text too long', 'x'.repeat(70_000), `${'x'.repeat(64_993)}… (cut)`],
  ];
  test.each(rows)('it goes into the property of its question: %s', (_what, answer, text) => {
    expect(propertiesOf({ ...item, answers: { 17: answer, 18: 'not mapped' } }, { grade: 'g', answers })).toEqual({
      g: '4',
      why_so: text,
    });
  });

  test('it leaves the property alone where there is none', () => {
    expect(propertiesOf(item, { answers })).toEqual({});
    expect(propertiesOf({ ...item, status: 'no-answer', answers: { 17: 'x' } }, { answers })).toEqual({});
  });

  test('it is on the record', async () => {
    const crm = await startHubspotStandin({});
    for (const name of Object.values(answers)) crm.standin.addProperty({ type: 'tickets', name, kind: 'string' });
    const { id } = crm.standin.addTicket({});
    const own = { accessToken: crm.standin.accessToken, webhookSecrets: ['s'], baseUrl: crm.url };
    const source = hubspot.open({ ...own, writeBack: { answers } }, openPorts().ports);
    const given = { ...item, recordId: `ticket-${id}`, answers: { 17: 'It was late', q2: 3 } };
    expect(await source.writeBack([given])).toEqual([{ ok: true, findings: [] }]);
    expect(crm.standin.ticket(id).properties).toMatchObject({ why_so: 'It was late', how_long: '3' });
    await crm.close();
  });
});

describe('check looks at the property of each question, on each kind of record', () => {
  const asked = { writeBack: { answers }, developerApiKey: undefined, publicUrl: hookUrl };
  findsEach([
    {
      name: 'one that is not there',
      settings: asked,
      account: (standin) => void standin.addProperty({ type: 'deals', name: 'how_long', kind: 'string' }),
      finds: [
        ['error', 'writeBack.answers.17', /tickets have no property "why_so"/],
        ['error', 'writeBack.answers.q2', /tickets have no property "how_long"/],
        ['error', 'writeBack.answers.17', /deals have no property "why_so"/],
      ],
    },
    {
      name: 'one that takes numbers',
      settings: {
        ...asked,
        objects: ['ticket'],
        pipelines: ['0'],
        stages: ['4'],
        writeBack: { answers: { 17: 'why_so' } },
      },
      account: (standin) => void standin.addProperty({ type: 'tickets', name: 'why_so', kind: 'number' }),
      finds: [['warning', 'writeBack.answers.17', /the grade with it/]],
    },
  ]);
});
