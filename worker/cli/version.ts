import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';

const manifest: { version: string } = JSON.parse(readFileSync(findPackageJSON(import.meta.url) ?? '', 'utf8'));

/** The version of this closeloop, in the repository and where it is installed. */
export const { version } = manifest;
