import { verifyAccount } from '../sources/account.ts';
import { livePorts } from './live-ports.ts';
import { dataKeyOf, type Runtime } from './runtime.ts';

/** @throws CloseloopError config when Redis belongs to another account of the service: account.ts */
export async function checkAccount(runtime: Runtime, options: { adopt?: boolean } = {}): Promise<void> {
  const { seal } = await dataKeyOf(runtime);
  await verifyAccount(runtime.config, { redis: runtime.redis, seal, ports: livePorts, ...options });
}
