import { standins } from '../../standins/index.ts';
import { controlOf } from './processes.ts';

/** A stand-in in this process, and its control surface. */
export async function standinHere(name: string) {
  const load = standins[name];
  if (load === undefined) throw new Error(`there is no stand-in "${name}"`);
  const { url, close } = await (await load()).start({ port: 0 });
  return { url, control: controlOf(url, name), close };
}
