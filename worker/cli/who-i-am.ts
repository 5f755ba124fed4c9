import { hostname, userInfo } from 'node:os';

/** Whoever runs this command, as others are told. In a container the user may have no name. */
export function whoIAm(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    return `${process.getuid?.() ?? 'somebody'}@${hostname()}`;
  }
}
