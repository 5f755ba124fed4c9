/* The exports for authors of connectors: `import { … } from 'closeloop'`. A guide is in docs/writing-a-connector.md. */

export { z } from 'zod';
export { isLoopback, isSafeAddress, isTimeZone } from './address.ts';
export {
  type ActionNote,
  type AnswerPart,
  type AnswerPlaces,
  cut,
  escapeHtml,
  instantOf,
  isAnswerTag,
  isOlderThan,
  isOutdated,
  isSameText,
  isSameValue,
  isSurveyPart,
  keepHere,
  linesOf,
  markerIn,
  markerOf,
  type Noted,
  newerStays,
  newestBy,
  noteHtml,
  noteOf,
  noteText,
  notOverNewer,
  type PartName,
  partsOf,
  placed,
  placesOf,
  surveyText,
  tagsOf,
  takesAnswers,
} from './connector/answer.ts';
export { type Blame, chunks, sendApart, type Writable, writeInBatches, writeInTurn } from './connector/batches.ts';
export { type Cached, cached } from './connector/cached.ts';
export { aboutRecords } from './connector/calls.ts';
export {
  type Comparison,
  combined,
  errorAt,
  hookUrlFindings,
  isSameUrl,
  manualStep,
  namesOf,
  type SetupItem,
  type ShapeNames,
  setupSteps,
  twoSurveys,
  unknownReads,
  unseenWebhook,
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
  PointsBucket,
  PointsTaken,
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
export { defineConnector, mostEvents } from './connector/contract.ts';
export { customerOf, present } from './connector/customer.ts';
export { happenedAt, noEvent, oneEvent } from './connector/delivery.ts';
export {
  type DeskAction,
  deskActor,
  doing,
  type Flaw,
  isReopened,
  noSuch,
  noteAction,
  setAction,
  tagAction,
} from './connector/desk/act.ts';
export { type Desk, type DeskIntake, type DeskReading, desk } from './connector/desk/desk.ts';
export { noneOf } from './connector/desk/in-turn.ts';
export {
  type ChangeWindow,
  closingOf,
  listedSince,
  type PolledPage,
  pollInTurn,
  pollWindow,
} from './connector/desk/poll.ts';
export { type ChangeSearch, pollSearches } from './connector/desk/poll-searches.ts';
export {
  comparedFields,
  comparedHooks,
  type DeskFields,
  type DeskHooks,
  type DeskPreflight,
  type DeskProbe,
  deskPreflight,
  type WantedHook,
} from './connector/desk/preflight.ts';
export { isFailure, misshapen, ownError, type RowReading, type Rows, rowsOf } from './connector/desk/rows.ts';
export { deskWriteBack } from './connector/desk/settings.ts';
export { putTogether } from './connector/desk/together.ts';
export { DeskWriter, deskWriter, holdsValue, inPlainForm, isNoted, refusalOf } from './connector/desk/write.ts';
export {
  type Change,
  type ChangedRow,
  type DeskNotes,
  type DeskWriting,
  Refusal,
  type Written,
} from './connector/desk/writing.ts';
export {
  type CurrentField,
  fractionsIn,
  gradeTypes,
  type NeededField,
  typesByPart,
} from './connector/fields.ts';
export { createGraphqlApi, type GraphqlAccount, type GraphqlApi } from './connector/graphql.ts';
export { jobWatch } from './connector/jobs.ts';
export { jsonBody } from './connector/json-body.ts';
export { type FieldSuggestion, type Onboarding, questionsOfPlaces } from './connector/onboarding.ts';
export { linkedPage, linkedPages, numberedPages, pageWatch } from './connector/pages.ts';
export { type EntryBounds, inPaidCalls, type PricedCall, pointsSender } from './connector/points.ts';
export { headerNumber, quotaIn } from './connector/quota.ts';
export { numbered } from './connector/record-name.ts';
export { inSeconds } from './connector/seconds.ts';
export { type HttpResponse, SendFailure } from './connector/send.ts';
export {
  answerPlaces,
  noAnswerNeeds,
  numericId,
  oneKindOfCredentials,
  ownPlaces,
  pathAddress,
  secret,
  standinOrigin,
  webhookSecrets,
  yesOrNo,
} from './connector/settings.ts';
export { type HmacScheme, signHmac, verifyHmac, verifySecretHeader } from './connector/signature.ts';
export {
  isStandardSecret,
  signedMessageId,
  signStandardWebhook,
  verifyStandardWebhook,
} from './connector/standard-webhook.ts';
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
export { flag, listOf, mapOf, orElse, text } from './entries.ts';
export { type Advice, adviceOf, CloseloopError, messageOf, type Outcome } from './errors.ts';
export { lookUp } from './look-up.ts';
export { firstMismatch, mismatchesOf } from './mismatches.ts';
export { internationalPhone } from './phone-numbers.ts';
export type { BegunResponse, Fetch, Log, Ports, ResponseHeaders, SentRequest } from './ports.ts';
/** The zod instance that reads the configuration, so that your settings get the same messages and a JSON Schema. */
export { Duration } from './schedule/duration-setting.ts';

export { isBlank } from './visible-text.ts';
