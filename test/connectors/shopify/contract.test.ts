import { afterEach, beforeEach, describe, test } from 'vitest';
import { connectorContract } from '../contract.ts';
import { shopifySample } from './sample.ts';

connectorContract(shopifySample, { describe, test, beforeEach, afterEach });
