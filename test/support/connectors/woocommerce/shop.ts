import { woocommerce } from '../../../../connectors/woocommerce/woocommerce.ts';
import type { ConnectorPorts, Source, WriteBack } from '../../../../core/connector/contract.ts';
import { startWooCommerceStandin, type WooCommerceStandinOptions } from '../../../../standins/woocommerce/standin.ts';
import { answer as answerTo } from '../../contract/bench.ts';
import { given, type Seen, testPorts } from './fixture.ts';

export const allOn = {
  grade: 'feedback_grade',
  comment: 'feedback_comment',
  answeredAt: 'feedback_at',
  status: 'feedback_status',
  answers: { q1: 'feedback_speed' },
  note: true,
  noAnswer: true,
};

/** A shop at the stand-in, over a socket, and a source on it. Its clock moves only when told to. */
export async function openShop(settings: object = {}, options: WooCommerceStandinOptions = {}) {
  const clock = { now: new Date('2026-11-20T12:00:00Z') };
  const server = await startWooCommerceStandin({ now: () => clock.now, ...options });
  const { standin } = server;
  const open = (more: object = {}, ports: Partial<ConnectorPorts> = {}): { source: Source; seen: Seen } => {
    const tested = testPorts({ now: () => clock.now, ...ports });
    const written = { ...given, site: server.url, ...settings, ...more };
    return { source: woocommerce.open(written, tested.ports), seen: tested.seen };
  };
  return {
    ...server,
    standin,
    ...open(),
    open,
    clock,
    later: (ms: number) => {
      clock.now = new Date(clock.now.getTime() + ms);
    },
    /** A customer's order, completed unless told otherwise. */
    order: (more: Parameters<typeof standin.addOrder>[0] = {}): string => {
      const billing = { email: 'hanna@example.com', phone: '0172 9925904', country: 'DE' };
      return String(standin.addOrder({ status: 'completed', billing, ...more }).id);
    },
  };
}

export type Shop = Awaited<ReturnType<typeof openShop>>;

export const answer = (recordId: string, more: Partial<WriteBack> = {}): WriteBack =>
  answerTo(recordId, {
    marker: 'shop/1.1.v1',
    grade: 4,
    comment: 'Quick & <b>good</b>',
    campaign: 'After delivery',
    maxGrade: 5,
    ...more,
  });
