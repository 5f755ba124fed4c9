import type { ConfiguredSource } from '../config/config.ts';

/** Sources of one vendor account. Each source knows only its own journeys, so a record that the rules of two sources choose is asked about twice. */
interface SharedAccount {
  sources: string[];
  problem: string;
  remedy: string;
}

const remedy =
  'put the rules of all into one of them and take the others out, or give their rules conditions (when) of which one only can be true for a record';

/** A connector that can't name its account gives no finding. */
export function sharedAccounts(sources: readonly ConfiguredSource[]): SharedAccount[] {
  const groups = Map.groupBy(sources, ({ connector, account }) =>
    account === undefined ? undefined : JSON.stringify([connector.name, account]),
  );
  return [...groups].flatMap(([account, group]) => {
    if (account === undefined || group.length < 2) return [];
    const names = group.map(({ name }) => name);
    const listed = names.map((name) => `"${name}"`).join(' and ');
    const pairs = group.flatMap((one, i) => group.slice(i + 1).map((other) => overlapOf(one, other)));
    const overlap = pairs.find((one) => one !== undefined);
    const what =
      overlap === undefined
        ? 'whether their rules can choose the same record can not be told from their conditions; where they do, its customer is asked twice about one closing'
        : `${overlap} choose the same records: their customers are asked twice about one closing`;
    const problem = `sources ${listed} are of the same ${group[0]?.connector.name} account, and ${what}`;
    return [{ sources: names, problem, remedy }];
  });
}

/** Rules of both sources that certainly choose the same record: a rule without a condition takes every record that no earlier rule took. */
function overlapOf(one: ConfiguredSource, other: ConfiguredSource): string | undefined {
  for (const { name, when } of one.rules) {
    const same = other.rules.find((rule) => when === undefined || rule.when === undefined || rule.when === when);
    if (same) return `rule "${name}" of the one and rule "${same.name}" of the other`;
  }
  return undefined;
}
