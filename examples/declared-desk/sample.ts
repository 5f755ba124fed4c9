import type { ConnectorSample } from 'closeloop/testing';
import { sample as helpdesk } from '../helpdesk-connector/sample.ts';
import deskly from './connector.ts';

const hookUrl = 'https://closeloop.example/hooks/desk';
const places = { grade: 'grade', comment: 'comment', answeredAt: 'answeredAt' };

/** The account of the other example, for the connector that is declared. */
export const sample: ConnectorSample = {
  ...helpdesk,
  connector: deskly,
  // One call for each answer, and two for its note: the connector declares `put`, and not `putMany`.
  callsFor100: { read: 1, writeBack: 203 },
  does: ['poll', 'replace', 'forget', 'check'],
  acts: [{ name: 'reopen', params: true }],
  planted: ['a wrong key', 'a dropdown that lacks grades'],
  async start() {
    const vendor = await helpdesk.start();
    let apiKey = 'key';
    return {
      ...vendor,
      settings: (secrets) => ({ ...vendor.settings(secrets), apiKey, writeBack: { ...places, note: true } }),
      preflight: () => ({ hookUrl, grades: [1, 2, 3, 4, 5], reads: [], answersWithinMs: 86_400_000 }),
      async plant(what) {
        if (what === 'a wrong key') apiKey = 'another';
        else await vendor.dropdown?.([4, 5]);
      },
    };
  },
};
