import { afterEach, beforeEach, describe, test } from 'node:test';
import { connectorContract } from 'closeloop/testing';
import { sampleOf, whole } from './whole-desk.ts';

/* Run by suite.test.ts with `node --test`: the suite as an author sees it, in Node's loader, by another test runner. */
connectorContract(sampleOf(whole), { describe, test, beforeEach, afterEach });
