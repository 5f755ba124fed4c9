import { writeFileSync } from 'node:fs';
import { connectors } from '../../connectors/index.ts';
import { schemaText } from './schema.ts';

writeFileSync(new URL('../../closeloop.schema.json', import.meta.url), schemaText(connectors));
