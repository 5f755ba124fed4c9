import type { Forecast } from '../support/preview.ts';

/** The request that would be sent, or of which it was decided that it would not be, a line for each part. */
export function forecastLines({ decision, rule, request, trace }: Forecast, timeZone: string): string[] {
  if (request === undefined) return trace.map((line) => row('', line));
  const { campaign, contact, test, values, sources, dueAt } = request;
  return [
    ...(test ? [row('TEST', `it would go to ${test.kind} ${test.value}, not to the customer`)] : []),
    row('rule', rule?.name ?? ''),
    row('campaign', `${campaign.id} ${campaign.name} (${campaign.type})`),
    row('contact', `${contact.kind} ${contact.value}`),
    ...Object.entries(values).map(([name, value], i) =>
      row(i === 0 ? 'fields' : '', `${name} = ${JSON.stringify(value)}  ← ${sources[name] ?? 'closeloop'}`),
    ),
    ...(decision === 'ask' ? [row('send', `${dueAt.toISOString()} (${timeZone})`)] : []),
    ...trace.map((line, i) => row(decision === 'ask' && i === 0 ? 'because' : '', line)),
  ];
}

/** A named part. */
export const row = (name: string, text: string): string => `${name.padEnd(9)} ${text}`;

/** A forecast as JSON. */
export function forecastForMachines({ decision, reason, why, rule, request, trace }: Forecast) {
  const { campaign, dueAt, ...sent } = request ?? {};
  const at = decision === 'ask' ? dueAt : undefined;
  return { decision, reason, why, rule: rule?.name, campaign: campaign?.id, ...sent, dueAt: at, trace };
}
