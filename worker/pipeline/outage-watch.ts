import type { Alerts } from '../operations/alerts.ts';
import { type Outage, resumeRemedy, sentenceOf } from '../operations/outage.ts';
import type { SourcePipeline } from './source-pipeline.ts';

/** A person is alerted to an endpoint that has been down for this long. Real time. */
const longOutageMs = 600_000;
const outageRemedy = `nothing is lost, work goes on by itself when it answers again; see why it does not. ${resumeRemedy}`;
const usedUp = ({ until }: { until: Date }) =>
  `the quota of the vendor's account is used up, until ${until.toISOString()} by the vendor's word`;
const quotaRemedy = `nothing is lost, work goes on by itself; see who else calls the vendor, or raise the quota. ${resumeRemedy}`;

/** A stage that can't go on, and why. */
export interface Stopped {
  stage: string;
  why: string;
  at: Date;
}

/** The parts of a source that can't go on: stopped stages, jobs that wait for a person, a vendor that does not answer. */
export async function stoppedOf({ pauses, holds, vendor }: SourcePipeline): Promise<Stopped[]> {
  const held = (await holds.list()).map(({ stage, only, why, at }) => ({ stage: `${stage}, ${only}`, why, at }));
  return [...(await pauses.list()), ...held, ...(await downOf(vendor))];
}

/** The endpoint's outage and used-up quota, in the form of pauses: it does not answer, or closeloop must not call it for long. */
export async function downOf(endpoint: Outage): Promise<Stopped[]> {
  const [down, quota] = await Promise.all([endpoint.down({ now: true }), endpoint.quota()]);
  return [
    ...(down ? [{ stage: 'all', why: sentenceOf(down), at: down.since }] : []),
    ...(quota ? [{ stage: 'all', why: usedUp(quota), at: quota.since }] : []),
  ];
}

/** Alerts a person to long outages, and to outages that the endpoint says will be long. Short outages raise no alert. @param endpoints by source */
export async function alertOutages(endpoints: Iterable<[string, Outage]>, alerts: Alerts): Promise<void> {
  for (const [source, endpoint] of endpoints) {
    const quota = await endpoint.quota();
    if (quota) await alerts.raise({ kind: 'paused', source, why: usedUp(quota), remedy: quotaRemedy });
    const down = await endpoint.down({ now: true });
    if (!down || Math.max(Date.now(), down.askedUntil?.getTime() ?? 0) - down.since.getTime() < longOutageMs) continue;
    await alerts.raise({ kind: 'paused', source, why: sentenceOf(down), remedy: outageRemedy });
  }
}
