import { z } from 'zod';
import { shownField } from '../mismatches.ts';
import { FeedbackError } from './failure.ts';
import type { NewRequest, RequestQuery } from './request-form.ts';

/* Refuses invalid arguments: JSON has no NaN, and would send another value or no value in its place. */

function badArgument(what: string): FeedbackError {
  const message = `Feedback service: nothing was sent: ${what}.`;
  return new FeedbackError(message, { kind: 'permanent' }, { outcome: 'never-sent' });
}

const Day = z.iso.date();

/** @throws FeedbackError permanent, for anything but a day of the calendar as YYYY-MM-DD. */
export function day(text: string | undefined, name: string): string | undefined {
  if (text === undefined || Day.safeParse(text).success) return text;
  throw badArgument(`${name} must be a day written YYYY-MM-DD`);
}

export function integer(id: number, name: string): string {
  if (Number.isSafeInteger(id)) return String(id);
  throw badArgument(`the id of a ${name} must be a whole number`);
}

export function checkGrade(grade: number): void {
  if (!Number.isFinite(grade)) throw badArgument('the grade must be a number, neither NaN nor infinite');
}

function checkMoment(at: Date | undefined, name: string): void {
  if (at !== undefined && Number.isNaN(at.getTime())) throw badArgument(`${name} must be a valid date and time`);
}

export function checkNew({ campaign, scheduled, customFields }: NewRequest, sendDeadline: Date | undefined): void {
  integer(campaign, 'campaign');
  checkMoment(scheduled, 'scheduled');
  checkMoment(sendDeadline, 'sendDeadline');
  const names = Object.keys(customFields);
  const bad = names.filter((name) => !isCustomValue(customFields[name]));
  if (bad.length === 0) return;
  const listed = bad.map((name) => shownField(name, names)).join(', ');
  throw badArgument(
    `a custom field takes a text, a finite number, true or false, but not the value given for ${listed}`,
  );
}

function isCustomValue(value: unknown): boolean {
  return typeof value === 'number' ? Number.isFinite(value) : typeof value === 'string' || typeof value === 'boolean';
}

export function checkQuery(query: RequestQuery): void {
  if (query.campaign !== undefined) integer(query.campaign, 'campaign');
  const { page = 1 } = query;
  if (!Number.isSafeInteger(page) || page < 1) throw badArgument('page must be a whole number from 1 on');
  for (const name of ['changedSince', 'dateFrom', 'dateTo'] as const) day(query[name], name);
}
