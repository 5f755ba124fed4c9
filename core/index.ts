/* What the author of a connector builds with: `import { … } from 'closeloop'`. A guide is in docs/writing-a-connector.md. */

/** The same zod that reads the configuration, so that its messages and its JSON Schema hold for your settings. */
export { z } from 'zod';
export {
  type ActionNote,
  type AnswerPart,
  cut,
  escapeHtml,
  isAnswerTag,
  isOlderThan,
  isOutdated,
  isSameText,
  linesOf,
  markerIn,
  markerOf,
  type Noted,
  newestBy,
  noteHtml,
  noteOf,
  noteText,
  notOverNewer,
  partsOf,
  placed,
  placesOf,
  surveyText,
  tagsOf,
} from './connector/answer.ts';
export { chunks, writeInBatches, writeInTurn } from './connector/batches.ts';
export { type Cached, cached } from './connector/cached.ts';
export {
  type Comparison,
  errorAt,
  hookUrlFindings,
  isSameUrl,
  type MissingItem,
  manualStep,
  namesOf,
  prober,
  type SetupItem,
  setupSteps,
  unknownReads,
  unseenWebhook,
  vendorProber,
  warningAt,
} from './connector/check.ts';
export {
  config,
  type Meaning,
  type MeaningTable,
  permanent,
  type ResponseRules,
  transient,
  VendorError,
} from './connector/classify.ts';
export type {
  ActionRequest,
  ActionResult,
  Actions,
  AnswerValue,
  Budget,
  Connector,
  ConnectorPorts,
  Delivery,
  EraseEvent,
  Events,
  ExternalGradeEvent,
  Finding,
  HttpReply,
  PollPage,
  PreflightContext,
  PresentedRecord,
  Quota,
  RateLimit,
  ReadResult,
  RecordEvent,
  RecordParts,
  RecordSnapshots,
  RecordState,
  RevokedEvent,
  SetupStep,
  Source,
  SourceEvent,
  SurveyEvent,
  Urgency,
  UsedAction,
  Vault,
  Verdict,
  WriteBack,
  WriteResult,
} from './connector/contract.ts';
export { defineConnector } from './connector/contract.ts';
export { customerOf, present } from './connector/customer.ts';
export { happenedAt, noEvent, oneEvent } from './connector/delivery.ts';
export { type DeskAction, doing, isReopened, noteAction, tagAction } from './connector/desk/act.ts';
export { type Desk, type DeskIntake, type DeskReading, desk } from './connector/desk/desk.ts';
export { type ChangeWindow, type PolledPage, pollInTurn, pollWindow } from './connector/desk/poll.ts';
export {
  comparedFields,
  comparedHooks,
  type DeskFields,
  type DeskHooks,
  type DeskPreflight,
  type DeskProbe,
  type WantedHook,
} from './connector/desk/preflight.ts';
export { type RowReading, type Rows, rowsOf } from './connector/desk/rows.ts';
export { deskWriteBack } from './connector/desk/settings.ts';
export {
  type Change,
  type ChangedRow,
  type DeskNotes,
  type DeskWriting,
  deskWriter,
  holdsValue,
  inPlainForm,
  Refusal,
  type Written,
} from './connector/desk/write.ts';
export {
  type CurrentField,
  compareFields,
  type FieldWords,
  fractionsIn,
  gradeTypes,
  type NeededField,
  typesByPart,
} from './connector/fields.ts';
export { jsonBody } from './connector/json-body.ts';
export { linkedPage, linkedPages, pageWatch } from './connector/pages.ts';
export { headerNumber, quotaIn } from './connector/quota.ts';
export type { HttpResponse } from './connector/send.ts';
export {
  answerPlaces,
  noAnswerNeeds,
  numericId,
  oneKindOfCredentials,
  secret,
  standinOrigin,
  webhookSecrets,
} from './connector/settings.ts';
export { type HmacScheme, signHmac, verifyHmac, verifySecretHeader } from './connector/signature.ts';
export { createSweep, type SweepSearch } from './connector/sweep.ts';
export {
  basicCredentials,
  type Credentials,
  clientCredentials,
  type GrantedToken,
  refreshedToken,
  staticToken,
  TokenGrant,
} from './connector/token.ts';
export { createVendorApi, type VendorAccount, type VendorApi, type VendorCall } from './connector/vendor-api.ts';
export { listOf, mapOf, orElse } from './entries.ts';
export { type Advice, CloseloopError, type Outcome } from './errors.ts';
export type { BegunResponse, Fetch, Log, Ports, ResponseHeaders, SentRequest } from './ports.ts';
export { Duration } from './schedule/duration.ts';
