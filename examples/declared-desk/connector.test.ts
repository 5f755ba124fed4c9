import { connectorContract } from 'closeloop/testing';
import { afterEach, beforeEach, describe, test } from 'vitest';
import { sample } from '../helpdesk-connector/sample.ts';
import deskly from './connector.ts';

// One call for each answer, and two for its note: the desk writes one by one, as `put` is declared and `putMany` is not.
const declared = { ...sample, connector: deskly, callsFor100: { read: 1, writeBack: 203 } };
connectorContract(declared, { describe, test, beforeEach, afterEach });
