import { afterEach, beforeEach, describe, test } from 'vitest';
import { connectorContract } from '../contract.ts';
import { webhookSample } from './sample.ts';

connectorContract(webhookSample, { describe, test, beforeEach, afterEach });
