/** What a table holds under a name that comes from outside: what every object inherits (`constructor`, `__proto__`) is not in it. */
export function lookUp<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
