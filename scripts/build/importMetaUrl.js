// In a CommonJS bundle `import.meta.url` is empty; this stands in for it.
import { pathToFileURL } from 'node:url';
export const __importMetaUrl = pathToFileURL(__filename).href;
