/* What the author of a connector builds with: `import { … } from 'closeloop'`. A guide is in connectors/README.md. */

/** The same zod that reads the configuration, so that its messages and its JSON Schema hold for your settings. */
export { z } from 'zod';
export type {
  AnswerValue,
  Budget,
  Connector,
  ConnectorPorts,
  Delivery,
  EraseEvent,
  Events,
  Finding,
  GoingLive,
  GradedEvent,
  PollPage,
  PresentedRecord,
  Quota,
  ReadResult,
  RecordEvent,
  RecordState,
  RevokedEvent,
  SetupStep,
  Source,
  SourceEvent,
  SurveyEvent,
  Told,
  Urgency,
  Vault,
  Verdict,
  WriteBack,
  WriteResult,
} from './connector/contract.ts';
export { defineConnector } from './connector/contract.ts';
export { jsonBody } from './connector/json-body.ts';
export { type HmacForm, isEqual, signHmac, verifyHmac } from './connector/signature.ts';
export { createVendorApi, type VendorAccount, type VendorApi, type VendorCall } from './connector/vendor-api.ts';
export { type Advice, CloseloopError, type Outcome } from './errors.ts';
export type { Log, Ports } from './ports.ts';
export { Duration } from './schedule/duration.ts';
