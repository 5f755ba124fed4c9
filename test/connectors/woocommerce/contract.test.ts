import { afterEach, beforeEach, describe, test } from 'vitest';
import { connectorContract } from '../contract.ts';
import { woocommerceSample } from './sample.ts';

connectorContract(woocommerceSample, { describe, test, beforeEach, afterEach });
