import type { ActionRequest, ActionResult, Source } from '../../core/connector/contract.ts';

/** Does one action. Undefined where the source does none. */
export async function actOnce(source: Pick<Source, 'act'>, request: ActionRequest): Promise<ActionResult | undefined> {
  return (await source.act?.([request]))?.[0];
}
