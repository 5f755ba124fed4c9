import { newestBy, notOverNewer } from '../../core/connector/answer.ts';
import type { Source, WriteBack, WriteResult } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import { changeFor, findingsOn, holdsLater } from './answer.ts';
import type { ShopifyApi } from './api.ts';
import { currentReader } from './current.ts';
import { isOrderId } from './ids.ts';
import { type Mutation, mutationsFor, sender } from './mutations.ts';
import type { ShopifySettings } from './settings.ts';

/**
 * Writes answers on orders. Each order has mutations of its own, so that a refusal concerns one order; as many share a call as its
 * limit of points allows. Orders are read before, so that only changes are sent, and after. Repeatable. A metafield is written over the
 * value that was read alone: a call that is carried out late changes no newer one. Of several answers to one order the newest is written.
 */
export function writer({ shop, writeBack }: ShopifySettings, api: ShopifyApi): Source['writeBack'] {
  const currentOf = currentReader(writeBack, api, writeBack);
  const send = sender('WriteAnswers', api);

  return async (items) => {
    const newest = newestBy(
      items,
      ({ recordId }) => recordId,
      ({ answeredAt }) => answeredAt,
    );
    const before = await currentOf([...newest.keys()].filter(isOrderId));
    const work = new Map<string, Mutation[]>();
    for (const [id, item] of newest) {
      const current = before.get(id);
      if (current === undefined || current instanceof CloseloopError || holdsLater(item, writeBack, current)) continue;
      const change = changeFor(item, writeBack, current);
      if (change !== undefined) work.set(id, mutationsFor(id, change, writeBack));
    }
    const undone = await send(work);
    const after = await currentOf([...work.keys()].filter((id) => !undone.has(id)));

    const resultOf = (id: string, item: WriteBack): WriteResult => {
      const why = undone.get(id);
      if (why !== undefined) {
        return { ok: false, why: 'error', error: typeof why === 'string' ? refusal(shop, id, why) : why };
      }
      const current = work.has(id) ? after.get(id) : before.get(id);
      if (current === undefined) return notFound(id);
      if (current instanceof CloseloopError) return { ok: false, why: 'error', error: current };
      if (!work.has(id) && holdsLater(item, writeBack, current)) return notOverNewer('order');
      return { ok: true, findings: findingsOn(item, writeBack, current) };
    };
    return items.map((item) => resultOf(item.recordId, newest.get(item.recordId) ?? item));
  };
}

function notFound(id: string): WriteResult {
  const message = `Shopify order ${id} can't be seen any more: it was deleted, or is older than 60 days and the app lacks read_all_orders.`;
  return { ok: false, why: 'not-found', message };
}

/** A definition that refuses closeloop's writes concerns all orders; every other refusal this one. */
function refusal(shop: string, id: string, why: string): CloseloopError {
  if (/STALE_OBJECT|INVALID_COMPARE_DIGEST/.test(why)) {
    const again = 'somebody changed the metafields at the same time; it is tried again';
    return new CloseloopError(`Shopify ${shop}: order ${id}: ${why}; ${again}`, { kind: 'transient' });
  }
  const forAll = /APP_NOT_AUTHORIZED|INVALID_TYPE/.test(why);
  const remedy = forAll
    ? 'the metafield belongs to somebody else or has another type: run "closeloop check"'
    : 'look at the validations of the metafield (Settings > Metafields > Orders): "closeloop check" names them';
  return new CloseloopError(`Shopify ${shop}: order ${id}: ${why}; ${remedy}`, {
    kind: forAll ? 'config' : 'permanent',
  });
}
