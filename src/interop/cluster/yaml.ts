type Yaml = string | number | boolean | null | readonly Yaml[] | { readonly [key: string]: Yaml };
export type YamlRecord = Readonly<Record<string, Yaml>>;

/** A record as block YAML: what is deepest (scalars, lists) as JSON, which YAML contains. */
export function toYaml(record: YamlRecord, indent = ''): string {
  return Object.entries(record)
    .map(([key, value]) =>
      isRecord(value)
        ? `${indent}${key}:\n${toYaml(value, `${indent}  `)}`
        : `${indent}${key}: ${JSON.stringify(value)}\n`,
    )
    .join('');
}

const isRecord = (value: Yaml): value is YamlRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
