import { shownFields } from './custom-fields.ts';
import type { FeedbackRequest } from './definitions.ts';
import { put, type RecordForm } from './operations-form.ts';
import { statusOf } from './store.ts';

declare global {
  interface JSON {
    /** Writes an integer of any length; TypeScript's library does not have it yet. */
    rawJSON(text: string): object;
  }
}

/** The record as the API shows it, in the configured form. The envelope is the caller's business. */
export function showRequest(request: FeedbackRequest, form: RecordForm, now: number): object {
  const { campaign } = request;
  const record = {};
  put(record, form.id, request.longId === null ? request.id : JSON.rawJSON(String(request.longId)));
  put(record, form.campaign, campaign.id);
  put(record, form.phone, request.phone);
  put(record, form.email, request.email);
  put(record, form.identifier, request.identifier);
  put(record, form.scheduled, campaign.account.zone.timestamp(request.scheduledAt));
  put(record, form.status, statusOf(request, now));
  put(record, form.grade, request.answer?.grade ?? null);
  put(record, form.comment, request.answer?.comment ?? null);
  put(record, form.customFields, shownFields(campaign.fields, request.values, form.fieldsAs));
  return record;
}

/** What the control surface tells about a request: everything. Instants are ISO 8601 in UTC. */
export interface RequestReport {
  id: number;
  /** What the API calls it instead; null: nothing else. */
  longId: string | null;
  account: string;
  campaign: number;
  phone: string | null;
  email: string | null;
  identifier: string | null;
  ip: string | null;
  /** The numbers on the SMS messages that went out. */
  smsPhones: string[];
  scheduled: string;
  dueAt: string;
  /** Null for a request that hasn't gone out. */
  sentAt: string | null;
  status: string;
  grade: number | null;
  gradedAt: string | null;
  comment: string | null;
  commentedAt: string | null;
  surveyAt: string | null;
  customFields: object;
  masked: boolean;
}

export function reportRequest(request: FeedbackRequest, now: number): RequestReport {
  const { campaign, answer } = request;
  const status = statusOf(request, now);
  const sent = status === 'Sent';
  const bySms = campaign.type === 'sms' || campaign.type === 'mixed';
  return {
    id: request.id,
    longId: request.longId === null ? null : String(request.longId),
    account: campaign.account.name,
    campaign: campaign.id,
    phone: request.phone,
    email: request.email,
    identifier: request.identifier,
    ip: request.ip,
    smsPhones: sent && bySms && request.phone !== null ? [request.phone] : [],
    scheduled: iso(request.scheduledAt),
    dueAt: iso(request.dueAt),
    sentAt: sent ? iso(request.dueAt) : null,
    status,
    grade: answer?.grade ?? null,
    gradedAt: isoOrNull(answer?.gradeAt),
    comment: answer?.comment ?? null,
    commentedAt: isoOrNull(answer?.commentAt),
    surveyAt: isoOrNull(answer?.surveyAt),
    customFields: shownFields(campaign.fields, request.values, 'object'),
    masked: request.masked,
  };
}

const iso = (at: number): string => new Date(at).toISOString();
const isoOrNull = (at: number | null | undefined): string | null => (at === null || at === undefined ? null : iso(at));
