import { newestBy } from '../../core/connector/answer.ts';
import { cached } from '../../core/connector/cached.ts';
import type { ConnectorPorts, WriteBack, WriteResult } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import { holdsNewer, missing, notTaken, type Values, type WantedField, wantedFields } from './answer.ts';
import type { ZendeskApi } from './api.ts';
import { cacheMs, userFields } from './fields.ts';
import { type JobResult, type JobWatch, updateMany } from './jobs.ts';
import { errorName } from './responses.ts';
import type { ZendeskSettings } from './settings.ts';
import { refuseRetired, resolveUserFields, userField, writableTargets } from './targets.ts';
import { fieldValueOf, showUsers, type User } from './ticket.ts';

export interface Asked {
  item: WriteBack;
  userId: string;
}

/**
 * Writes each person's newest answer on the person: up to 100 in three calls (update, status of the job, read again), none without a
 * change. `known`: users that have been read; others are read. One result per answer, by answer.
 */
type WriteUserFields = (
  asked: readonly Asked[],
  known: ReadonlyMap<string, User>,
) => Promise<Map<WriteBack, WriteResult>>;

/** The values for one person. */
interface UserOrder {
  userId: string;
  wanted: WantedField[];
}

export function userFieldWriter(
  { subdomain, writeBack }: Pick<ZendeskSettings, 'subdomain' | 'writeBack'>,
  api: ZendeskApi,
  finished: JobWatch,
  ports: Pick<ConnectorPorts, 'now'>,
): WriteUserFields {
  const catalogue = cached(() => userFields(api), cacheMs, ports.now);

  return async (asked, known) => {
    const resolve = async (loaded?: 'now') => resolveUserFields(writeBack, await catalogue(loaded));
    const targets = await writableTargets(resolve, subdomain);
    const newest = newestBy(
      asked,
      ({ userId }) => userId,
      ({ item }) => item.answeredAt,
    );
    const unknown = [...newest.keys()].filter((id) => !known.has(id));
    const people = new Map([...known, ...(await showUsers(api, unknown))]);

    const due = [...newest.values()].flatMap(({ userId, item }) => {
      const values = valuesOf(people.get(userId));
      if (!isThere(people.get(userId)) || holdsNewer(item, targets, values)) return [];
      const { fields, unfit } = wantedFields(item, writeBack, targets, userField);
      return [{ userId, wanted: fields, unfit, isChange: missing(fields, values).length > 0 }];
    });
    const unfit = new Map(due.map((one) => [one.userId, one.unfit]));
    const orders = due.filter(({ isChange }) => isChange);
    const written = await updateUsers(api, finished, orders);
    await refuseRetired([...written.values()], () => resolve('now'), subdomain);
    const resultFor = ({ item, userId }: Asked): WriteResult => {
      if (!isThere(people.get(userId))) return gone(item);
      const result = written.get(userId) ?? fine;
      return result.ok ? { ...result, findings: [...result.findings, ...(unfit.get(userId) ?? [])] } : result;
    };
    return new Map(asked.map((one) => [one.item, resultFor(one)]));
  };
}

/** Updates up to 100 people in three calls (update, status of the job, read again). The result for each, by user. */
export async function updateUsers(
  api: ZendeskApi,
  finished: JobWatch,
  orders: readonly UserOrder[],
): Promise<Map<string, WriteResult>> {
  if (orders.length === 0) return new Map();
  const users = orders.map(({ userId, wanted }) => ({
    id: Number(userId),
    user_fields: Object.fromEntries(wanted.map(({ id, value }) => [id, value])),
  }));
  const outcomes = await updateMany(api, finished, 'users', users);
  const after = await showUsers(
    api,
    orders.map(({ userId }) => userId),
  );
  return new Map(
    orders.map((order) => [order.userId, resultOf(order, outcomes.get(order.userId), after.get(order.userId))]),
  );
}

const fine: WriteResult = { ok: true, findings: [] };

function resultOf({ userId, wanted }: UserOrder, result: JobResult | undefined, now: User | undefined): WriteResult {
  const findings = notTaken(wanted, valuesOf(now), userField);
  if (result?.success === true || findings.length === 0) return { ok: true, findings };
  const error =
    result === undefined
      ? new CloseloopError(
          `Zendesk user ${userId}: the job ended without a word on them; they are read before the next attempt.`,
          { kind: 'transient' },
          { outcome: 'unknown' },
        )
      : new CloseloopError(
          `Zendesk user ${userId} can't be updated (${errorName(result) ?? 'refused'}): check that the integration user may edit end users, and that the user fields take the values (closeloop check).`,
          { kind: 'permanent' },
        );
  return { ok: false, why: 'error', error };
}

const isThere = (user: User | undefined): boolean => user !== undefined && user.active !== false;

function gone({ recordId }: WriteBack): WriteResult {
  return {
    ok: false,
    why: 'not-found',
    message: `the requester of Zendesk ticket ${recordId} does not exist any more.`,
  };
}

export function valuesOf(user: User | undefined): Values {
  return (key) => fieldValueOf(user?.user_fields?.[key]);
}
