import { afterEach, beforeEach, describe, test } from 'vitest';
import { webhookSample } from '../../../support/connectors/webhook/sample.ts';
import { connectorContract } from '../../../support/contract.ts';

connectorContract(webhookSample, { describe, test, beforeEach, afterEach });
